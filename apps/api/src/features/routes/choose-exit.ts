import { err, ok } from "@weft/protocol";
import type { ExitChoice } from "@weft/protocol";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { findPeer, setExitChoice } from "../../db/peers-repository.ts";
import { transact } from "../../db/transact.ts";
import { routeKind } from "../../domain/route.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import { peerView } from "../../registry/views.ts";
import type { routesContract } from "./contract.ts";

/** Says through whom a peer's other traffic leaves. It stays so when the exit node goes: nothing leaks by itself. */
export async function chooseExit(
  deps: FeatureDeps,
  call: Call,
  { peerId, exitPeerId, lan, lost }: InputOf<typeof routesContract.chooseExit>,
): Outcome<typeof routesContract.chooseExit> {
  const at = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const networkId = (await findPeer(tx, peerId))?.networkId;
    const network = networkId && (await lockNetwork(tx, networkId));
    const peer = await findPeer(tx, peerId);
    if (!peer || !network) return err({ code: "not_found", what: "peer" });
    const fits = checkVersion(call, tagOf("peer", peer));
    if (!fits.ok) return fits;
    const exit = exitPeerId === null ? null : await findPeer(tx, exitPeerId);
    if (exit === undefined || (exit && exit.networkId !== network.id))
      return err({ code: "not_found", what: "exit node" });
    if (exit?.id === peer.id) return err({ code: "same_peer" });
    if (exit && !exit.routes.some((prefix) => routeKind({ prefix }) === "exit")) {
      return err({ code: "exit_unapproved", name: exit.name });
    }
    const exitChoice: ExitChoice | null = exit && { peerId: exit.id, lan, lost };
    if (JSON.stringify(ordered(peer.exitChoice)) !== JSON.stringify(ordered(exitChoice))) {
      await setExitChoice(tx, peer.id, exitChoice);
      await publishChanges(tx, network.id, { changes: [{ kind: "peer", peerId: peer.id }], at });
      const note = { action: "routes.chooseExit", objectId: peer.id, networkId: network.id };
      await recordAudit(tx, call, { ...note, before: { exit: peer.exitChoice }, after: { exit: exitChoice }, at });
    }
    return ok(peerView({ ...peer, exitChoice }, deps.live.peer(peer.id), network));
  });
}

/** The database keeps the parts of a choice in an order of its own. */
function ordered(choice: ExitChoice | null) {
  return choice && [choice.peerId, choice.lan, choice.lost];
}
