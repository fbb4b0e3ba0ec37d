import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { z } from "zod";
import type { Executor } from "../../db/client.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Call } from "../../registry/call.ts";
import type { OperationContract } from "../../registry/contract-kit.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";

/** A secret that a change made; it is shown once. */
export type ShownSecret = {
  readonly kind: "enrolmentKeys" | "webhooks";
  readonly network: string | null;
  readonly name: string;
  readonly secret: string;
  readonly joinLine: string | null;
};

/** One transaction in which configuration is read and changed, always by operations that anybody may call. */
export type Work = {
  readonly deps: FeatureDeps;
  readonly tx: Executor;
  readonly authority: "caller" | "trial";
  readonly secrets: ShownSecret[];
  /** What the change that is being made turned out to mean. */
  readonly warnings: string[];
  readonly perform: <C extends OperationContract>(
    contract: C,
    input: z.input<C["input"]>,
  ) => Promise<Result<z.output<C["output"]>, Failure>>;
};

export function workIn(
  deps: FeatureDeps,
  call: Call,
  { tx, authority }: { readonly tx: Executor; readonly authority: Work["authority"] },
): Work {
  return {
    deps,
    tx,
    authority,
    secrets: [],
    warnings: [],
    perform: (contract, input) =>
      deps.perform({ call, tx, authority: contract.kind === "query" ? "caller" : authority }, contract, input),
  };
}

type ListContract = OperationContract<
  "query",
  z.ZodType,
  z.ZodType<{ readonly items: readonly unknown[]; readonly nextCursor: string | null }>
>;
type ItemOf<C extends ListContract> = z.output<C["output"]>["items"][number];

/** All items of a list, page after page. */
export async function everything<C extends ListContract>(
  work: Work,
  contract: C,
  input: Readonly<Record<string, unknown>> = {},
): Promise<Result<readonly ItemOf<C>[], Failure>> {
  const items: ItemOf<C>[] = [];
  let cursor: string | undefined;
  do {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every list takes limit and cursor
    const page = await work.perform(contract, {
      ...input,
      limit: 500,
      ...(cursor !== undefined && { cursor }),
    } as never);
    if (!page.ok) return page;
    items.push(...page.value.items);
    cursor = page.value.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return ok(items);
}

/** A network as files name it: its groups and peers by their names. */
export type Place = {
  readonly network: string;
  /** Nothing until the network was created. */
  id: string | undefined;
  readonly groups: NameTable;
  readonly peers: NameTable;
};

/** Ids by name and names by id; names of groups go without case. */
export type NameTable = {
  readonly idOf: (name: string) => string | undefined;
  readonly nameOf: (id: string) => string;
  readonly add: (id: string, name: string) => void;
};

export function nameTable(entries: Iterable<readonly [id: string, name: string]>): NameTable {
  const ids = new Map<string, string>();
  const names = new Map<string, string>();
  const add = (id: string, name: string) => {
    ids.set(name.toLowerCase(), id);
    names.set(id, name);
  };
  for (const [id, name] of entries) add(id, name);
  return { idOf: (name) => ids.get(name.toLowerCase()), nameOf: (id) => names.get(id) ?? id, add };
}

/** Ids of groups by their names. */
export function groupIdsOf(place: Place, names: readonly string[]): Result<string[], Failure> {
  const missing = names.find((name) => place.groups.idOf(name) === undefined);
  if (missing !== undefined) return err(fault(place.network, `there is no group ${missing} in this network`));
  return ok(names.flatMap((name) => place.groups.idOf(name) ?? []));
}

export function networkIdOf(place: Place): string {
  if (place.id === undefined) throw new Error(`the network ${place.network} was to be made first`);
  return place.id;
}

export function fault(at: string, reason: string): Failure {
  return { code: "configuration_fault", at, reason };
}
