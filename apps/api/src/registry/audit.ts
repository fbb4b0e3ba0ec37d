import { randomBytes } from "node:crypto";
import { deliveryIds } from "@weft/protocol";
import type { NetworkId } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { insertAuditEvent } from "../db/audit-repository.ts";
import type { AuditEvent } from "../db/audit-repository.ts";
import { insertDeliveries } from "../db/deliveries-repository.ts";
import { webhooksFor } from "../db/webhooks-repository.ts";
import { eventBody } from "../webhooks/event-body.ts";
import type { Actor, Call } from "./call.ts";

/** What an audit event says beside who did it. */
export type AuditNote = {
  readonly action: string;
  readonly objectId: string | null;
  readonly networkId: NetworkId | null;
  readonly before: unknown;
  readonly after: unknown;
};

/** What nobody asked for: the server did it when its time came. */
export const BY_SERVER = { actor: { kind: "server" }, address: "", requestId: "" } as const;

/**
 * Writes an audit event in the transaction of the change it tells about, and notes for webhooks what they are to be told:
 * who hears of a change and the change itself are committed together. Notes never carry secrets.
 */
export async function recordAudit(
  tx: Executor,
  who: Pick<Call, "actor" | "address" | "requestId"> | typeof BY_SERVER,
  note: AuditNote & {
    readonly at: Date;
    /** Who hears of it beside the log; webhooks when left out. */
    readonly tell?: "webhooks" | "nobody";
  },
): Promise<AuditEvent> {
  const event: AuditEvent = {
    id: `evt_${randomBytes(16).toString("hex")}`,
    ...actorColumns(who.actor),
    address: who.address,
    requestId: who.requestId,
    action: note.action,
    objectId: note.objectId,
    networkId: note.networkId,
    before: note.before,
    after: note.after,
    at: note.at,
  };
  await insertAuditEvent(tx, event);
  if (note.tell !== "nobody") await tellWebhooks(tx, event);
  return event;
}

async function tellWebhooks(tx: Executor, event: AuditEvent): Promise<void> {
  const ids = await webhooksFor(tx, event.action);
  if (ids.length === 0) return;
  const same = { eventId: event.id, action: event.action, body: eventBody(event) };
  const times = { createdAt: event.at, nextAttemptAt: event.at };
  await insertDeliveries(
    tx,
    ids.map((webhookId) => ({ ...same, ...times, webhookId, id: deliveryIds.make((length) => randomBytes(length)) })),
  );
}

function actorColumns(actor: Actor | typeof BY_SERVER.actor) {
  switch (actor.kind) {
    case "anonymous":
    case "server":
      return { actorKind: actor.kind, actorId: null, actorLogin: null } as const;
    case "user":
      return { actorKind: actor.kind, actorId: actor.userId, actorLogin: actor.login } as const;
    case "token":
      return { actorKind: actor.kind, actorId: actor.tokenId, actorLogin: actor.login } as const;
    case "node":
      return { actorKind: actor.kind, actorId: actor.peerId, actorLogin: actor.name } as const;
  }
}
