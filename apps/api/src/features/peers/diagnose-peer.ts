import { err, ok } from "@weft/protocol";
import { findPeer } from "../../db/peers-repository.ts";
import { compilePolicy, decidingRule } from "../../domain/access-policy.ts";
import { diagnose, verdictOf } from "../../domain/diagnosis.ts";
import type { DiagnosedPeer } from "../../domain/diagnosis.ts";
import type { Peer } from "../../domain/peer.ts";
import { currentState } from "../../domain/peer-state.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { readPolicy } from "../../registry/save-policy.ts";
import type { peersContract } from "./contract.ts";

/** Says why a peer can or cannot reach another. */
export async function diagnosePeer(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof peersContract.diagnose>,
): Outcome<typeof peersContract.diagnose> {
  const { db } = deps.database;
  const [from, to] = [await findPeer(db, input.peerId), await findPeer(db, input.targetPeerId)];
  if (!from || !to || from.networkId !== to.networkId) return err({ code: "not_found", what: "peer" });
  if (from.id === to.id) return err({ code: "same_peer" });
  const policy = compilePolicy((await readPolicy(db, from.networkId)).rules);
  const packet = { protocol: input.protocol ?? null, port: input.port ?? null };
  const steps = diagnose({
    from: knownOf(deps, from),
    to: knownOf(deps, to),
    rule: decidingRule(policy, policy.classOf(from), { to: policy.classOf(to), packet }),
    link: deps.live.link(from.id, to.id),
  });
  return ok({ verdict: verdictOf(steps), steps: [...steps] });
}

function knownOf(deps: FeatureDeps, peer: Peer): DiagnosedPeer {
  const live = deps.live.peer(peer.id);
  return {
    name: peer.name,
    state: currentState(peer, new Date(deps.clock.nowMs())),
    presence: live?.presence ?? "unknown",
    map: live?.map.state ?? "none",
    families: [...(peer.ipv4 ? [4 as const] : []), ...(peer.ipv6 ? [6 as const] : [])],
    endpointCount: peer.endpoints.length,
  };
}
