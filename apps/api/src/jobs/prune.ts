import { deleteAuditEventsBefore } from "../db/audit-repository.ts";
import { pruneChanges } from "../db/changes-repository.ts";
import { deleteDeliveriesBefore } from "../db/deliveries-repository.ts";
import type { Executor } from "../db/client.ts";
import { deleteAnswersBefore } from "../db/idempotency-repository.ts";
import { deleteUsedLoginsBefore } from "../db/identities-repository.ts";
import { pruneJobs } from "../db/jobs-repository.ts";
import { deleteEndedClientLinks } from "../db/clients-repository.ts";
import { deleteInvitesBefore } from "../db/invites-repository.ts";
import { deleteExpiredSessions } from "../db/sessions-repository.ts";
import { pruneTraffic } from "../db/traffic-repository.ts";
import type { TrafficKeep } from "../domain/traffic-steps.ts";
import { KEPT_MS } from "../registry/run-once.ts";

/** How long an operator wants things kept. */
export type Retention = {
  /** Days of audit events. */
  readonly auditDays: number;
  readonly trafficKeep: TrafficKeep;
};

/** Forgets what nobody needs any more, so that the database does not grow for ever. */
export async function prune(
  db: Executor,
  { nowMs, auditDays, trafficKeep }: { readonly nowMs: number } & Retention,
): Promise<void> {
  await deleteExpiredSessions(db, new Date(nowMs));
  await deleteUsedLoginsBefore(db, new Date(nowMs));
  await deleteAnswersBefore(db, new Date(nowMs - KEPT_MS));
  await deleteAuditEventsBefore(db, new Date(nowMs - auditDays * DAY_MS));
  await deleteEndedClientLinks(db, new Date(nowMs));
  await deleteInvitesBefore(db, new Date(nowMs - INVITE_DAYS * DAY_MS));
  await deleteDeliveriesBefore(db, new Date(nowMs - DELIVERY_DAYS * DAY_MS));
  await pruneJobs(db, {
    endedBefore: new Date(nowMs - JOB_DAYS * DAY_MS),
    largeBefore: new Date(nowMs - LARGE_RESULT_DAYS * DAY_MS),
    perNetwork: JOBS_PER_NETWORK,
  });
  await pruneTraffic(db, trafficKeep, nowMs);
  await pruneChanges(db, CHANGES_KEPT);
}

/** Days that used and ended invites stay listed. */
const INVITE_DAYS = 30;
/** Days that the delivery log of webhooks is kept. */
const DELIVERY_DAYS = 7;
/** Days that jobs of nodes stay listed, and large reports stay readable. */
const JOB_DAYS = 30;
const LARGE_RESULT_DAYS = 1;
const JOBS_PER_NETWORK = 1_000;
const DAY_MS = 86_400_000;
/** Changes per network that a replica may lag behind before it reads everything again. */
const CHANGES_KEPT = 10_000;
