import type { AuditEvent } from "../../db/audit-repository.ts";

/** An audit event as callers see it. */
export function eventView(event: AuditEvent) {
  const { id, action, address, requestId, networkId, objectId } = event;
  return {
    id,
    at: event.at.toISOString(),
    action,
    actor: { kind: event.actorKind, id: event.actorId, login: event.actorLogin },
    address,
    requestId,
    networkId,
    objectId,
    before: event.before ?? null,
    after: event.after ?? null,
  };
}
