import { err, ok } from "@weft/protocol";
import { findAuditEvent } from "../../db/audit-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { auditEventsContract } from "./contract.ts";
import { eventView } from "./event-view.ts";

/** Shows one audit event. */
export async function getEvent(
  deps: FeatureDeps,
  _call: Call,
  { eventId }: InputOf<typeof auditEventsContract.get>,
): Outcome<typeof auditEventsContract.get> {
  const event = await findAuditEvent(deps.database.db, eventId);
  return event ? ok(eventView(event)) : err({ code: "not_found", what: "audit event" });
}
