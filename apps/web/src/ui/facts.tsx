import type { ReactNode } from "react";

/** A row of named facts. */
export function Facts({ children }: { readonly children: ReactNode }): ReactNode {
  return <dl className="facts">{children}</dl>;
}

/** One named fact. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
