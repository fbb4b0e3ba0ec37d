import { err, formatAmneziaConf, ok } from "@weft/protocol";
import {
  concealVersionsOf,
  findConceal,
  findConcealVersion,
  listConceal as readConceal,
} from "../../db/conceal-repository.ts";
import { findNetwork } from "../../db/networks-repository.ts";
import { listPeers } from "../../db/peers-repository.ts";
import { canConceal, wantedChoice } from "../../domain/conceal-plan.ts";
import type { ConcealPlan } from "../../domain/conceal-plan.ts";
import type { Peer } from "../../domain/peer.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { LivePeer } from "../../registry/live-state.ts";
import { answerList } from "../../registry/pages.ts";
import { choiceView, planView } from "../../registry/publish-conceal-plan.ts";
import { concealDetail, concealView, storedProfile } from "./conceal-views.ts";
import { nodesSpec, profilesSpec } from "./contract.ts";
import type { concealContract } from "./contract.ts";

/** Lists the profiles of a network. */
export async function listConceal(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof concealContract.list>,
): Outcome<typeof concealContract.list> {
  const { db } = deps.database;
  const network = await findNetwork(db, input.networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  return answerList(deps, {
    spec: profilesSpec,
    scope: network.id,
    input,
    read: (request) => readConceal(db, network.id, request),
    view: concealView,
  });
}

/** Shows one profile. */
export async function getConceal(
  deps: FeatureDeps,
  _call: Call,
  { concealProfileId }: InputOf<typeof concealContract.get>,
): Outcome<typeof concealContract.get> {
  const { db } = deps.database;
  const profile = await findConceal(db, concealProfileId);
  if (!profile) return err({ code: "not_found", what: "conceal profile" });
  return ok(concealDetail(profile, await concealVersionsOf(db, profile.id)));
}

/** Writes a version as a file of AmneziaWG. */
export async function exportConceal(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof concealContract.export>,
): Outcome<typeof concealContract.export> {
  const { db } = deps.database;
  const profile = await findConceal(db, input.concealProfileId);
  if (!profile) return err({ code: "not_found", what: "conceal profile" });
  const found = await findConcealVersion(db, profile.id, input.version ?? profile.version);
  if (!found) return err({ code: "not_found", what: "version of this conceal profile" });
  const conf = formatAmneziaConf({ profile: storedProfile(found.settings), interface: [], peers: [] });
  return ok({ version: found.version, conf });
}

/** Shows the plan of a network. */
export async function getPlan(
  deps: FeatureDeps,
  _call: Call,
  { networkId }: InputOf<typeof concealContract.plan>,
): Outcome<typeof concealContract.plan> {
  const network = await findNetwork(deps.database.db, networkId);
  return network ? ok(planView(network.id, network.conceal)) : err({ code: "not_found", what: "network" });
}

/** Says who runs what. */
export async function listNodes(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof concealContract.nodes>,
): Outcome<typeof concealContract.nodes> {
  const { db } = deps.database;
  const network = await findNetwork(db, input.networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  return answerList(deps, {
    spec: nodesSpec,
    scope: network.id,
    input,
    read: (request) => listPeers(db, network.id, request),
    view: (peer) => ({
      peerId: peer.id,
      name: peer.name,
      wanted: choiceView(wantedChoice(network.conceal, peer)),
      state: nodeState(network.conceal, peer, deps.live.peer(peer.id)),
    }),
  });
}

/** A node that has applied its newest map runs what stands in it. */
function nodeState(plan: ConcealPlan | null, peer: Peer, live: LivePeer | undefined) {
  if (!canConceal(peer) && wantedChoice(plan, peer)) return "unable";
  if (live?.presence !== "online") return "offline";
  return live.map.state === "applied" ? "runs" : "pending";
}
