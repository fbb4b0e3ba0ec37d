import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Failure } from "../../domain/failure.ts";
import { afterVerdict, membershipEnd } from "../../domain/peer-state.ts";
import type { PeerVerdict } from "../../domain/peer-state.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { PeerView } from "../../registry/peer-schemas.ts";
import { changeSettings } from "../../registry/change-peer.ts";
import type { peersContract } from "./contract.ts";

/** Lets a pending peer take part, or one that was rejected by mistake. */
export async function approvePeer(
  deps: FeatureDeps,
  call: Call,
  { peerId }: InputOf<typeof peersContract.approve>,
): Outcome<typeof peersContract.approve> {
  return judge(deps, call, { peerId, verdict: "approve" });
}

/** Refuses a pending peer; its node is told and stays out. */
export async function rejectPeer(
  deps: FeatureDeps,
  call: Call,
  { peerId }: InputOf<typeof peersContract.reject>,
): Outcome<typeof peersContract.reject> {
  return judge(deps, call, { peerId, verdict: "reject" });
}

/** Shuts a peer out until it is enabled; it keeps name, addresses and groups. */
export async function disablePeer(
  deps: FeatureDeps,
  call: Call,
  { peerId }: InputOf<typeof peersContract.disable>,
): Outcome<typeof peersContract.disable> {
  return judge(deps, call, { peerId, verdict: "disable" });
}

/** Lets a disabled peer back in, unless its membership has ended meanwhile. */
export async function enablePeer(
  deps: FeatureDeps,
  call: Call,
  { peerId }: InputOf<typeof peersContract.enable>,
): Outcome<typeof peersContract.enable> {
  return judge(deps, call, { peerId, verdict: "enable" });
}

function judge(
  deps: FeatureDeps,
  call: Call,
  { peerId, verdict }: { readonly peerId: string; readonly verdict: PeerVerdict },
): Promise<Result<PeerView, Failure>> {
  return changeSettings(deps, call, {
    peerId,
    action: `peers.${verdict}`,
    wanted(peer, { now, network }) {
      const state = afterVerdict(verdict, peer, now);
      if (!state) return err({ code: "peer_state", name: peer.name, state: peer.state, verdict });
      const isGranted = verdict === "approve" && peer.state !== "active";
      // A membership begins when it is granted, not when somebody asked for it; an end that was set by hand stays.
      const isSet = peer.expiresAt !== null && peer.expiresAt > now;
      return ok(isGranted && !isSet ? { state, expiresAt: membershipEnd(network, now) } : { state });
    },
  });
}
