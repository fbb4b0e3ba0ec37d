/** Time as an input; the unit is milliseconds, the origin is the implementer's. */
export type Clock = { readonly nowMs: () => number };

/** Chance as an input: fresh unpredictable bytes of the wanted length. */
export type RandomBytes = (length: number) => Uint8Array;
