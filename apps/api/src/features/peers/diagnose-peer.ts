import { err, ok } from "@weft/protocol";
import { findPeer } from "../../db/peers-repository.ts";
import { compilePolicy, decidingRule } from "../../domain/access-policy.ts";
import { diagnose, verdictOf } from "../../domain/diagnosis.ts";
import type { DiagnosedClient, DiagnosedPeer } from "../../domain/diagnosis.ts";
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
  const [near, far] = [await carrierOf(deps, from), await carrierOf(deps, to)];
  const steps = diagnose({
    from: carriedBy(deps, from, near),
    to: carriedBy(deps, to, far),
    clients: [from, to].filter(({ kind }) => kind === "client").map((client) => clientOf(deps, client, [near, far])),
    rule: decidingRule(policy, policy.classOf(from), { to: policy.classOf(to), packet }),
    link: deps.live.link(near.id, far.id),
  });
  return ok({ verdict: verdictOf(steps), steps: [...steps] });
}

/** Who sends and gets the packets of a peer: its gateway, if it is a static client that has one. */
async function carrierOf(deps: FeatureDeps, peer: Peer): Promise<Peer> {
  const gateway = peer.gatewayPeerId === null ? undefined : await findPeer(deps.database.db, peer.gatewayPeerId);
  return gateway ?? peer;
}

/** What people decided about the peer itself, and what is known of who carries its packets. */
function carriedBy(deps: FeatureDeps, peer: Peer, carrier: Peer): DiagnosedPeer {
  const known = knownOf(deps, carrier);
  if (peer.id === carrier.id || known.state !== "active") return known;
  const { name, state, families } = knownOf(deps, peer);
  return state === "active" ? { ...known, families } : { ...known, name, state };
}

function clientOf(deps: FeatureDeps, client: Peer, carriers: readonly Peer[]): DiagnosedClient {
  const gateway = carriers.find(({ id }) => id === client.gatewayPeerId);
  return { name: client.name, gateway: gateway?.name ?? null, link: gateway && deps.live.link(gateway.id, client.id) };
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
