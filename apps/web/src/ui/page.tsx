import { type ReactNode, useEffect } from "react";
import { strings } from "../strings/index.ts";

export type PageProps = {
  readonly title: string;
  /** One sentence about the state, under the title. */
  readonly sentence?: ReactNode;
  /** The way back up, above the title. */
  readonly crumbs?: ReactNode;
  /** The one primary action. */
  readonly action?: ReactNode;
  readonly children: ReactNode;
};

/** The head every page has, and its title in the browser. */
export function Page({ title, sentence, crumbs, action, children }: PageProps): ReactNode {
  useDocumentTitle(title);
  return (
    <div className="page">
      <header className="page-head">
        <div className="page-title">
          {crumbs ? (
            <nav className="crumbs" aria-label={strings.common.crumbs}>
              {crumbs}
            </nav>
          ) : null}
          <h1 dir="auto">{title}</h1>
          {sentence ? <div className="page-sentence">{sentence}</div> : null}
        </div>
        {action ? <div className="page-action">{action}</div> : null}
      </header>
      {children}
    </div>
  );
}

/** Names the browser tab after the page. */
export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · weft`;
  }, [title]);
}
