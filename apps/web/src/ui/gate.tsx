import type { ReactNode } from "react";
import { useDocumentTitle } from "./page.tsx";

export type GateProps = {
  readonly mark: ReactNode;
  readonly title: string;
  readonly sentence?: string;
  readonly children: ReactNode;
};

/** The frame of the two pages before one is signed in. */
export function Gate({ mark, title, sentence, children }: GateProps): ReactNode {
  useDocumentTitle(title);
  return (
    <main className="gate">
      <div className="gate-card">
        <div className="gate-mark">{mark}</div>
        <h1>{title}</h1>
        {sentence ? <p className="soft">{sentence}</p> : null}
        {children}
      </div>
    </main>
  );
}
