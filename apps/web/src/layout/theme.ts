import { createStore, type Store } from "../api/live/store.ts";

/** What the reader chose; `system` follows the machine. */
export type ThemeChoice = "system" | "light" | "dark";

export const THEME_CHOICES: readonly ThemeChoice[] = ["system", "light", "dark"];

const KEY = "weft.theme";
const store = createStore<ThemeChoice>(readChoice());

/** The current choice. */
export const theme: Store<ThemeChoice> = store;

/** Applies a choice at once and remembers it in this browser. `public/theme.js` reads it before the first paint. */
export function chooseTheme(choice: ThemeChoice): void {
  const root = document.documentElement;
  if (choice === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = choice;
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // Storage may be forbidden; the choice then lasts until the page closes.
  }
  store.set(choice);
}

function readChoice(): ThemeChoice {
  try {
    const stored = localStorage.getItem(KEY);
    return THEME_CHOICES.find((choice) => choice === stored) ?? "system";
  } catch {
    return "system";
  }
}
