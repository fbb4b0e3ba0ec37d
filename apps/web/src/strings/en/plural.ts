import { createPlural } from "../plural.ts";

/** Chooses between English plural forms. */
export const plural = createPlural("en");
