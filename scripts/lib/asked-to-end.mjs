/**
 * Calls back once, on the first signal, or when npm is gone without having passed a signal on. More signals change nothing:
 * a second Ctrl-C must not cut short how the first one stops things.
 */
export function onceAskedToEnd(callback) {
  let isAsked = false;
  const ask = () => {
    if (isAsked) return;
    isAsked = true;
    callback();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, ask);
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && ask(), PARENT_CHECK_MS).unref();
}

const PARENT_CHECK_MS = 500;
