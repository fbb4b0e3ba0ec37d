import {
  concealProfileIds,
  enrolmentKeyIds,
  groupIds,
  jobIds,
  nameRecordIds,
  nameserverGroupIds,
  networkIds,
  peerIds,
  routeApproverIds,
  routeIds,
  ruleIds,
} from "@weft/protocol";
import { eq } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Executor } from "./client.ts";
import {
  concealProfiles,
  enrolmentKeys,
  groups,
  jobs,
  nameRecords,
  nameserverGroups,
  peers,
  routeApprovers,
  routes,
  rules,
} from "./schema/index.ts";

/** What is known of the network that a call is about. */
export type CallNetwork =
  /** The call names no object of a network. */
  | { readonly kind: "none" }
  /** It names one that does not exist, or objects of different networks. */
  | { readonly kind: "unknown" }
  | { readonly kind: "known"; readonly networkId: string };

/** Finds the network of all objects that an input names; the input may be anything. */
export async function networkOf(db: Executor, input: unknown): Promise<CallNetwork> {
  if (typeof input !== "object" || input === null) return { kind: "none" };
  const fields = new Map<string, unknown>(Object.entries(input));
  const found = new Set<string | undefined>();
  const named = fields.get("networkId");
  if (named !== undefined) found.add(networkIds.is(named) ? named : undefined);
  for (const { field, is, table, columns } of NETWORK_BOUND) {
    const id = fields.get(field);
    if (id === undefined) continue;
    const [row] = is(id)
      ? await db.select({ networkId: columns.networkId }).from(table).where(eq(columns.id, id))
      : [undefined];
    found.add(typeof row?.networkId === "string" ? row.networkId : undefined);
  }
  if (found.size === 0) return { kind: "none" };
  const [networkId, ...others] = found;
  return networkId === undefined || others.length > 0 ? { kind: "unknown" } : { kind: "known", networkId };
}

type Bound = {
  /** Field of an input that names such an object. */
  readonly field: string;
  readonly is: (text: unknown) => boolean;
  readonly table: PgTable;
  readonly columns: { readonly id: PgColumn; readonly networkId: PgColumn };
};

/** Every kind of object that belongs to one network, by the field that names it. */
const NETWORK_BOUND: readonly Bound[] = [
  { field: "peerId", is: peerIds.is, table: peers, columns: peers },
  { field: "groupId", is: groupIds.is, table: groups, columns: groups },
  { field: "routeApproverId", is: routeApproverIds.is, table: routeApprovers, columns: routeApprovers },
  { field: "routeId", is: routeIds.is, table: routes, columns: routes },
  { field: "jobId", is: jobIds.is, table: jobs, columns: jobs },
  { field: "ruleId", is: ruleIds.is, table: rules, columns: rules },
  { field: "recordId", is: nameRecordIds.is, table: nameRecords, columns: nameRecords },
  { field: "nameserversId", is: nameserverGroupIds.is, table: nameserverGroups, columns: nameserverGroups },
  { field: "concealProfileId", is: concealProfileIds.is, table: concealProfiles, columns: concealProfiles },
  { field: "enrolmentKeyId", is: enrolmentKeyIds.is, table: enrolmentKeys, columns: enrolmentKeys },
];
