import { and, asc, count, desc, eq, gt, gte, isNull, lt, lte, or, sql } from "drizzle-orm";
import type { SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { z } from "zod";
import { networkIds } from "@weft/protocol";
import type { NetworkId } from "@weft/protocol";
import { EXPIRING_KINDS } from "../domain/expiration.ts";
import type { ExpiringKind } from "../domain/expiration.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import type { ListedPage } from "./lists.ts";
import { enrolmentKeys, invites, peers, tokens } from "./schema/index.ts";

/** Something that ends by itself. */
export type Expiring = {
  readonly id: string;
  readonly kind: ExpiringKind;
  readonly name: string;
  readonly networkId: NetworkId | null;
  readonly expiresAt: Date;
};

export type ExpirationsQuestion = {
  readonly request: ListRequest;
  readonly kinds: readonly ExpiringKind[];
  /** Only tokens of this user; of all when null. */
  readonly ownTokensOf: string | null;
  readonly now: Date;
};

/** Reads the soonest of every kind along its index, no more than a page of each, and merges them. */
export async function readExpirations(db: Executor, question: ExpirationsQuestion): Promise<ListedPage<Expiring>> {
  const { request, now } = question;
  const isFalling = request.order[0]?.direction === "descending";
  const inTurn = isFalling ? desc : asc;
  const after = request.after && PlaceSchema.parse(request.after);
  const found: Expiring[] = [];
  let total = 0;
  for (const kind of wantedKinds(question)) {
    const source = SOURCES[kind];
    const matching = and(gt(source.expiresAt, now), source.alive, narrowed(source, question));
    const rows = await db
      .select({
        id: source.id,
        name: source.name,
        networkId: source.networkId ?? sql<null>`null`,
        at: source.expiresAt,
      })
      .from(source.table)
      .where(and(matching, after && behind(source, kind, { place: after, isFalling })))
      .orderBy(inTurn(source.expiresAt), inTurn(source.id))
      .limit(request.limit + 1);
    found.push(...rows.map((row) => read(kind, row)));
    if (request.total === "wanted") {
      const [counted] = await db.select({ total: count() }).from(source.table).where(matching);
      total += counted?.total ?? 0;
    }
  }
  const sorted = found.toSorted((left, right) => (isFalling ? inOrder(right, left) : inOrder(left, right)));
  const rows = sorted.slice(0, request.limit);
  const last = sorted.length > rows.length ? rows.at(-1) : undefined;
  return {
    rows,
    next: last ? [last.expiresAt.toISOString(), last.kind, last.id] : null,
    total: request.total === "wanted" ? total : undefined,
  };
}

type Source = {
  readonly table: PgTable;
  readonly id: PgColumn;
  readonly expiresAt: PgColumn;
  readonly name: SQL<string> | PgColumn;
  readonly networkId: PgColumn | null;
  /** Whose tokens; other kinds have nobody. */
  readonly owner: PgColumn | null;
  /** What ended otherwise does not count. */
  readonly alive: SQL | undefined;
};

const SOURCES: Readonly<Record<ExpiringKind, Source>> = {
  peer: {
    table: peers,
    id: peers.id,
    expiresAt: peers.expiresAt,
    name: peers.name,
    networkId: peers.networkId,
    owner: null,
    alive: eq(peers.state, "active"),
  },
  enrolmentKey: {
    table: enrolmentKeys,
    id: enrolmentKeys.id,
    expiresAt: enrolmentKeys.expiresAt,
    name: sql<string>`case when ${enrolmentKeys.name} = '' then ${enrolmentKeys.hint} else ${enrolmentKeys.name} end`,
    networkId: enrolmentKeys.networkId,
    owner: null,
    alive: and(
      isNull(enrolmentKeys.revokedAt),
      or(isNull(enrolmentKeys.usesMax), lt(enrolmentKeys.uses, enrolmentKeys.usesMax)),
    ),
  },
  token: {
    table: tokens,
    id: tokens.id,
    expiresAt: tokens.expiresAt,
    name: tokens.name,
    networkId: null,
    owner: tokens.userId,
    alive: undefined,
  },
  invite: {
    table: invites,
    id: invites.id,
    expiresAt: invites.expiresAt,
    name: sql<string>`coalesce(${invites.login}, ${invites.role})`,
    networkId: null,
    owner: null,
    alive: isNull(invites.usedAt),
  },
};

function wantedKinds({ kinds, request }: ExpirationsQuestion): readonly ExpiringKind[] {
  const { kind, networkId } = request.filters;
  return kinds.filter(
    (one) => (kind === undefined || kind === one) && (networkId === undefined || SOURCES[one].networkId !== null),
  );
}

function narrowed({ networkId, expiresAt, owner }: Source, { request, ownTokensOf }: ExpirationsQuestion) {
  const { filters } = request;
  return and(
    networkId && filters["networkId"] !== undefined ? eq(networkId, filters["networkId"]) : undefined,
    filters["until"] === undefined ? undefined : lt(expiresAt, new Date(String(filters["until"]))),
    owner && ownTokensOf !== null ? eq(owner, ownTokensOf) : undefined,
  );
}

/** Rows behind a place; kinds with the same moment stand in the order of their names. */
function behind(
  { expiresAt, id }: Source,
  kind: ExpiringKind,
  { place, isFalling }: { readonly place: Place; readonly isFalling: boolean },
): SQL | undefined {
  const [at, lastKind, lastId] = place;
  const [beyond, orAt] = isFalling ? [lt, lte] : [gt, gte];
  const moment = new Date(at);
  if (kind === lastKind) return or(beyond(expiresAt, moment), and(eq(expiresAt, moment), beyond(id, lastId)));
  return kind > lastKind === isFalling ? beyond(expiresAt, moment) : orAt(expiresAt, moment);
}

function inOrder(left: Expiring, right: Expiring): number {
  const apart = left.expiresAt.getTime() - right.expiresAt.getTime();
  if (apart !== 0) return apart;
  return `${left.kind} ${left.id}` < `${right.kind} ${right.id}` ? -1 : 1;
}

function read(kind: ExpiringKind, row: { id: unknown; name: unknown; networkId: unknown; at: unknown }): Expiring {
  const { id, name, at } = RowSchema.parse(row);
  return { id, kind, name, networkId: networkIds.is(row.networkId) ? row.networkId : null, expiresAt: at };
}

const RowSchema = z.object({ id: z.string(), name: z.string(), at: z.date() });
const PlaceSchema = z.tuple([z.iso.datetime(), z.enum(EXPIRING_KINDS), z.string()]);
type Place = z.output<typeof PlaceSchema>;
