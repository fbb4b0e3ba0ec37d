import type { AuditEvent } from "../db/audit-repository.ts";

/** What a receiver is sent: the audit event, as JSON text that is never made anew. */
export function eventBody(event: AuditEvent): string {
  const { id, action, requestId, networkId, objectId } = event;
  return JSON.stringify({
    id,
    at: event.at.toISOString(),
    action,
    actor: { kind: event.actorKind, id: event.actorId, login: event.actorLogin },
    requestId,
    networkId,
    objectId,
    before: event.before ?? null,
    after: event.after ?? null,
  });
}
