import { chosenFrom } from "./choose.ts";
import { enPages } from "./en-pages.ts";

type PageStrings = typeof enPages;

/** Catalogues by language, as in `index.ts`. */
const catalogues: ReadonlyMap<string, PageStrings> = new Map([["en", enPages]]);

/** Texts of pages that bring their own script. */
export const pageStrings: PageStrings = chosenFrom(catalogues, enPages);
