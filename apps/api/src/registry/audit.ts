import { randomBytes } from "node:crypto";
import type { NetworkId } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { insertAuditEvent } from "../db/audit-repository.ts";
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

/** Writes an audit event in the transaction of the change it tells about. Notes never carry secrets. */
export async function recordAudit(
  tx: Executor,
  who: Pick<Call, "actor" | "address" | "requestId"> | typeof BY_SERVER,
  note: AuditNote & { readonly at: Date },
): Promise<void> {
  await insertAuditEvent(tx, {
    id: `evt_${randomBytes(16).toString("hex")}`,
    ...actorColumns(who.actor),
    address: who.address,
    requestId: who.requestId,
    ...note,
  });
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
