import { chosenFrom } from "./choose.ts";
import { en } from "./en.ts";

/** What every catalogue must contain; English is the reference. */
export type Strings = typeof en;

/** Catalogues by language; a translation is one more entry here. */
const catalogues: ReadonlyMap<string, Strings> = new Map([["en", en]]);

/** The texts of the dashboard in the best language the reader asked for. */
export const strings: Strings = chosenFrom(catalogues, en);
