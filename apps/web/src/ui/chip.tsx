import type { ReactNode } from "react";

export type ChipTone = "plain" | "good" | "warn" | "bad" | "accent";

/** A short word in a box. */
export function Chip({
  tone = "plain",
  children,
}: {
  readonly tone?: ChipTone;
  readonly children: ReactNode;
}): ReactNode {
  return <span className={`chip chip-${tone}`}>{children}</span>;
}
