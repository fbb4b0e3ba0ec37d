import { err, ok } from "@weft/protocol";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { changeSettings } from "../../registry/change-peer.ts";
import type { peersContract } from "./contract.ts";

/** Ends a membership now: the peer leaves all maps and its stream ends with the reason. */
export async function expirePeer(
  deps: FeatureDeps,
  call: Call,
  { peerId }: InputOf<typeof peersContract.expire>,
): Outcome<typeof peersContract.expire> {
  return changeSettings(deps, call, {
    peerId,
    action: "peers.expire",
    wanted(peer, { now }) {
      if (peer.state === "pending" || peer.state === "rejected") {
        return err({ code: "peer_state", name: peer.name, state: peer.state, verdict: "expire" });
      }
      // One that expired before keeps the moment at which it did.
      return ok(peer.state === "expired" ? {} : { expiresAt: now });
    },
  });
}
