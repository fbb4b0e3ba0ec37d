import { listAuditEvents } from "../../db/audit-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { auditEventsSpec } from "./contract.ts";
import type { auditEventsContract } from "./contract.ts";
import { eventView } from "./event-view.ts";

/** Lists audit events, newest first unless the caller wants the other order. */
export async function listEvents(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof auditEventsContract.list>,
): Outcome<typeof auditEventsContract.list> {
  return answerList(deps, {
    spec: auditEventsSpec,
    scope: "",
    input,
    read: (request) => listAuditEvents(deps.database.db, request),
    view: eventView,
  });
}
