import { err, ok } from "@weft/protocol";
import { findPeer } from "../../db/peers-repository.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { peersContract } from "./contract.ts";

/** Lets one peer ping another through the tunnel. */
export async function pingPeer(
  deps: FeatureDeps,
  call: Call,
  { peerId, targetPeerId, count }: InputOf<typeof peersContract.ping>,
): Outcome<typeof peersContract.ping> {
  const { db } = deps.database;
  const from = await findPeer(db, peerId);
  const to = await findPeer(db, targetPeerId);
  if (!from || !to || from.networkId !== to.networkId) return err({ code: "not_found", what: "peer" });
  if (from.id === to.id) return err({ code: "same_peer" });
  const note = { objectId: from.id, networkId: from.networkId, before: null };
  const atStart = new Date(deps.clock.nowMs());
  await recordAudit(db, call, { ...note, action: "peers.ping", after: { targetPeerId, count }, at: atStart });
  const outcome = await deps.live.ping({ from: from.id, to: to.id, count });
  const after = outcome.ok ? { received: outcome.value.received } : { failure: outcome.error.code };
  const atEnd = new Date(deps.clock.nowMs());
  await recordAudit(db, call, { ...note, action: "peers.pingEnded", after, at: atEnd });
  if (!outcome.ok) return outcome;
  const { sent, received, rttMicroseconds, endpoint } = outcome.value;
  return ok({
    sent,
    received,
    rttMicroseconds: [...rttMicroseconds],
    endpoint,
    path: received > 0 ? "direct" : "none",
  });
}
