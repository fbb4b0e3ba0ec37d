import type { ReactNode } from "react";

/** A row of big figures. */
export function Stats({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactNode {
  return (
    <section aria-label={label}>
      <dl className="stats">{children}</dl>
    </section>
  );
}

export type StatProps = { readonly name: string; readonly tone?: "plain" | "rx" | "tx"; readonly children: ReactNode };

/** One big figure with its name. */
export function Stat({ name, tone = "plain", children }: StatProps): ReactNode {
  return (
    <div className={`stat stat-${tone}`}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
