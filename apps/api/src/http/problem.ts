/** An error as `application/problem+json`. */
export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  /** Stable, documented name of the error. */
  readonly code: string;
  readonly requestId: string;
  readonly errors?: readonly ProblemItem[];
  readonly retryAfterSeconds?: number;
  /** Sealed; what the next step of a login carries. */
  readonly loginToken?: string;
};

/** One field that was wrong. */
export type ProblemItem = { readonly pointer: string; readonly code: string; readonly message: string };
