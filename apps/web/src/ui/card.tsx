import { type ReactNode, useId } from "react";

export type CardProps = {
  readonly title: string;
  readonly hint?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** `flush` lets a table or chart reach the edges. */
  readonly body?: "padded" | "flush";
  readonly tone?: "plain" | "danger";
};

/** A titled region of a page. */
export function Card({ title, hint, actions, children, body = "padded", tone = "plain" }: CardProps): ReactNode {
  const titleId = useId();
  return (
    <section className={`card card-${body} card-${tone}`} aria-labelledby={titleId}>
      <header className="card-head">
        <div>
          <h2 id={titleId}>{title}</h2>
          {hint ? <p className="soft">{hint}</p> : null}
        </div>
        {actions ? <div className="card-actions">{actions}</div> : null}
      </header>
      <div className="card-body">{children}</div>
    </section>
  );
}
