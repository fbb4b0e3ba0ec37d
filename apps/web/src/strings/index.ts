import { en } from "./en.ts";

/** What every catalogue must contain; English is the reference. */
export type Strings = typeof en;

/** Catalogues by language; a translation is one more entry here. */
const catalogues: ReadonlyMap<string, Strings> = new Map([["en", en]]);

/** The texts of the dashboard in the best language the reader asked for. */
export const strings: Strings = choose(typeof navigator === "undefined" ? [] : navigator.languages);

function choose(languages: readonly string[]): Strings {
  for (const language of languages) {
    const catalogue = catalogues.get(language.split("-")[0] ?? "");
    if (catalogue) return catalogue;
  }
  return en;
}
