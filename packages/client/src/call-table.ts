/** How one operation is called over HTTP. */
export type Call = {
  /** `noun.verb`. */
  readonly name: string;
  readonly summary: string;
  readonly method: string;
  /** Below `/api/v1`; parameters in braces. */
  readonly path: string;
  readonly answers: string;
  readonly scope?: string;
  readonly fields: readonly CallField[];
};

/** One field of an operation's input. */
export type CallField = {
  readonly name: string;
  /** "path", "query" or "body". */
  readonly place: string;
  readonly required: boolean;
  /** "text", "number", "boolean", "texts" or "json". */
  readonly kind: string;
  readonly choices?: readonly string[];
  readonly nullable?: boolean;
  readonly about?: string;
};

export type CallTable = readonly Call[];
