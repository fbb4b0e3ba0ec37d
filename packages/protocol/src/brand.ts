declare const brand: unique symbol;

/** A value that was checked once and carries the proof in its type. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
