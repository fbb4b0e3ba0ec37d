// Runs before the first paint. Must stay in step with src/layout/theme.ts.
(function () {
  var choice = null;
  try {
    choice = localStorage.getItem("weft.theme");
  } catch {
    // Storage may be forbidden; the system's choice is used then.
  }
  if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
})();
