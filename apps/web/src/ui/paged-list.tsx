import type { ReactNode } from "react";
import { strings } from "../strings/index.ts";
import { Button } from "./button.tsx";
import { EmptyPanel, LoadingPanel, type Problem, ProblemPanel, StaleNote } from "./panels.tsx";

/** A list that comes page by page. */
export type Pages<Item> = {
  /** What has come so far; undefined before the first page. */
  readonly items: readonly Item[] | undefined;
  /** How many there are with the filter applied; null when nobody counted. */
  readonly total: number | null;
  readonly problem: Problem | null;
  readonly refresh: () => void;
  /** The page after these; null after the last one. */
  readonly next: { readonly isPending: boolean; readonly load: () => void } | null;
};

export type PagedListProps<Item> = {
  readonly pages: Pages<Item>;
  readonly text: {
    readonly loading: string;
    readonly more: string;
    /** How many rows are shown, of how many. */
    readonly loaded: (shown: number, total: number) => string;
  };
  /** The picture when there is nothing. */
  readonly empty: { readonly title: string; readonly hint?: ReactNode };
  readonly children: (items: readonly Item[]) => ReactNode;
};

/** Loading, failed, empty, stale or rows, then the count and the way to more. */
export function PagedList<Item>({ pages, text, empty, children }: PagedListProps<Item>): ReactNode {
  const { items, problem, refresh, next } = pages;
  if (!items) {
    return problem ? <ProblemPanel problem={problem} onRetry={refresh} /> : <LoadingPanel label={text.loading} />;
  }
  return (
    <>
      {problem ? <StaleNote onRetry={refresh}>{strings.common.staleRows}</StaleNote> : null}
      {items.length === 0 ? (
        <EmptyPanel title={empty.title}>{empty.hint}</EmptyPanel>
      ) : (
        <>
          {children(items)}
          <p className="row-line list-foot">
            <span className="soft" role="status">
              {text.loaded(items.length, pages.total ?? items.length)}
            </span>
            {next ? (
              <Button isPending={next.isPending} onPress={next.load}>
                {text.more}
              </Button>
            ) : null}
          </p>
        </>
      )}
    </>
  );
}
