import { ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { PageRequest, Place } from "../db/paging.ts";
import type { Failure } from "../domain/failure.ts";
import type { FeatureDeps } from "./feature-deps.ts";

type ListInput<Sort extends string> = {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly sort: Sort;
};
type FieldOf<Sort extends string> = Sort extends `-${infer Field}` ? Field : Sort;

/** Reads what a caller asked for; `list` names the list with its filter. */
export function pageRequest<Sort extends string>(
  deps: Pick<FeatureDeps, "cursors">,
  list: string,
  input: ListInput<Sort>,
): Result<PageRequest<FieldOf<Sort>>, Failure> {
  let after: Place | undefined;
  if (input.cursor !== undefined) {
    const opened = deps.cursors.open(listName(list, input.sort), input.cursor);
    if (!opened.ok) return opened;
    after = opened.value;
  }
  const isDescending = input.sort.startsWith("-");
  return ok({
    field: fieldOf(input.sort),
    direction: isDescending ? "descending" : "ascending",
    limit: input.limit,
    after,
  });
}

/** The cursor for the place behind a page. */
export function nextCursor(
  deps: Pick<FeatureDeps, "cursors">,
  list: { readonly name: string; readonly sort: string },
  next: Place | null,
): string | null {
  return next && deps.cursors.seal(listName(list.name, list.sort), next);
}

function listName(list: string, sort: string): string {
  return `${list}?sort=${sort}`;
}

function fieldOf<Sort extends string>(sort: Sort): FieldOf<Sort> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type says what the text says
  return (sort.startsWith("-") ? sort.slice(1) : sort) as FieldOf<Sort>;
}
