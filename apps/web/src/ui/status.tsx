import type { ReactNode } from "react";

/** What a status means; each has its own shape, so colour is never the only sign. */
export type StatusKind = "good" | "warn" | "bad" | "idle" | "busy";

/** A dot with shape and word. */
export function Status({ kind, children }: { readonly kind: StatusKind; readonly children: ReactNode }): ReactNode {
  return (
    <span className={`status status-${kind}`}>
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" className="status-shape">
        {SHAPES[kind]}
      </svg>
      <span>{children}</span>
    </span>
  );
}

const SHAPES: Record<StatusKind, ReactNode> = {
  good: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  warn: <path d="M6 1 11.3 10.5H.7z" fill="currentColor" />,
  bad: <path d="M1.8 1.8h8.4v8.4H1.8z" fill="currentColor" />,
  idle: <circle cx="6" cy="6" r="3.8" fill="none" stroke="currentColor" strokeWidth="1.7" />,
  busy: (
    <path d="M6 2.2A3.8 3.8 0 1 1 2.2 6" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />
  ),
};
