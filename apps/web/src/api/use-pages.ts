import { keepPreviousData, type QueryKey, useInfiniteQuery } from "@tanstack/react-query";
import { toProblem } from "./error-text.ts";
import type { Pages } from "../ui/paged-list.tsx";

/** One page as every list of the control plane answers it. */
type Answer<Item> = {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
  readonly total?: number | undefined;
};

type PagesQuery<Item> = {
  /** Names the list and everything that was asked of it. */
  readonly key: QueryKey;
  readonly read: (place: { readonly cursor?: string }, signal: AbortSignal) => Promise<Answer<Item>>;
};

/**
 * A list of the server, page by page. While another search is under way the rows of the one before stay.
 *
 * Not by the options of the tRPC library: they add a field of their own to the input, which the server refuses.
 */
export function usePages<Item>({ key, read }: PagesQuery<Item>): Pages<Item> {
  const pages = useInfiniteQuery({
    queryKey: [...key, "pages"],
    initialPageParam: FIRST_PAGE,
    queryFn: ({ pageParam, signal }) => read(pageParam === FIRST_PAGE ? {} : { cursor: pageParam }, signal),
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
  return {
    items: pages.data?.pages.flatMap(({ items }) => items),
    total: pages.data?.pages.at(0)?.total ?? null,
    problem: pages.error ? toProblem(pages.error) : null,
    refresh: () => void pages.refetch(),
    next: pages.hasNextPage ? { isPending: pages.isFetchingNextPage, load: () => void pages.fetchNextPage() } : null,
  };
}

const FIRST_PAGE = "";
