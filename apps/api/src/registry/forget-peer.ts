import type { Executor } from "../db/client.ts";
import { leaveClients } from "../db/clients-repository.ts";
import { publishChanges } from "../db/networks-repository.ts";
import { deletePeer } from "../db/peers-repository.ts";
import { rulesNaming } from "../db/rules-repository.ts";
import { settleRoutes } from "../db/settle-routes.ts";
import type { Peer } from "../domain/peer.ts";
import { selectorKey } from "../domain/policy-rule.ts";
import type { BY_SERVER } from "./audit.ts";
import type { Call } from "./call.ts";
import { readPolicy, savePolicy } from "./save-policy.ts";

/** Deletes a peer and the rules and tests that name it; the network is locked. */
export async function forgetPeer(
  tx: Executor,
  who: Pick<Call, "actor" | "address" | "requestId"> | typeof BY_SERVER,
  { peer, at }: { readonly peer: Peer; readonly at: Date },
): Promise<void> {
  const { id, networkId } = peer;
  const named = await rulesNaming(tx, id);
  await deletePeer(tx, peer, at);
  const left = await leaveClients(tx, id);
  const changes = [id, ...left].map((peerId) => ({ kind: "peer", peerId }) as const);
  await publishChanges(tx, networkId, { changes, at });
  // What it forwarded into may have another way.
  if (peer.serves.length > 0) await settleRoutes(tx, networkId, at);
  const before = await readPolicy(tx, networkId);
  const tests = before.tests.filter(({ from, to }) => selectorKey(from) !== id && selectorKey(to) !== id);
  if (named.length === 0 && tests.length === before.tests.length) return;
  const gone = new Set(named.map((rule) => rule.id));
  const after = { rules: before.rules.filter((rule) => !gone.has(rule.id)), tests };
  const note = { action: "policy.peerGone", objectId: id, networkId, before: { rules: [...gone] }, after: null };
  await savePolicy(tx, who, { networkId, before, after, checks: "made", note, at });
}
