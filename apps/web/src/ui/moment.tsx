import type { ReactNode } from "react";
import { formatExact, formatRelative } from "../format/time.ts";
import { useNow } from "./clock.tsx";

/** A moment in relative words, the exact time on hover. */
export function Moment({ at }: { readonly at: string }): ReactNode {
  const nowMs = useNow();
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={formatExact(atMs)} className="nowrap">
      {formatRelative(atMs, nowMs)}
    </time>
  );
}
