import type { ReactNode } from "react";
import { strings } from "../strings/index.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

/** What went wrong, ready to be shown: a sentence, the code, the request, and whether trying again may help. */
export type Problem = {
  readonly sentence: string;
  readonly code: string;
  readonly requestId: string | null;
  readonly retry: "helps" | "useless";
};

/** The picture for "nothing arrived yet". */
export function LoadingPanel({ label }: { readonly label: string }): ReactNode {
  return (
    <div className="panel panel-loading" role="status" aria-label={label}>
      <span className="skeleton" />
      <span className="skeleton" />
      <span className="skeleton" />
    </div>
  );
}

export type ProblemPanelProps = { readonly problem: Problem; readonly onRetry?: (() => void) | undefined };

/** The picture for "it failed": sentence, code, request id and a retry where it helps. */
export function ProblemPanel({ problem, onRetry }: ProblemPanelProps): ReactNode {
  return (
    <div className="panel panel-problem" role="alert">
      <Icon name="warning" size={20} />
      <div>
        <p className="panel-sentence">{problem.sentence}</p>
        <p className="problem-facts">
          <code>{problem.code}</code>
          {problem.requestId ? (
            <>
              {" · "}
              {strings.common.request} <code>{problem.requestId}</code>
            </>
          ) : null}
        </p>
      </div>
      {onRetry && problem.retry === "helps" ? (
        <Button icon="refresh" onPress={onRetry}>
          {strings.common.retry}
        </Button>
      ) : null}
    </div>
  );
}

/** The picture for "there is nothing": what it is for and the next step. */
export function EmptyPanel({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactNode {
  return (
    <div className="panel panel-empty">
      <p className="panel-sentence">{title}</p>
      {children ? <div className="soft">{children}</div> : null}
    </div>
  );
}

export type StaleNoteProps = {
  readonly children: ReactNode;
  readonly onRetry?: (() => void) | undefined;
};

/** The picture for "what you see is old": the rows stay, and this line above them says so. */
export function StaleNote({ children, onRetry }: StaleNoteProps): ReactNode {
  return (
    <div className="stale" role="status">
      <Icon name="warning" size={16} />
      <span>{children}</span>
      {onRetry ? (
        <Button look="quiet" onPress={onRetry}>
          {strings.common.retry}
        </Button>
      ) : null}
    </div>
  );
}
