import { err, keyFingerprint, ok } from "@weft/protocol";
import type { Hello, RandomBytes, Result, Secret } from "@weft/protocol";
import type { Database } from "../db/client.ts";
import { isDuplicate } from "../db/client.ts";
import { findEnrolmentKeyByHash } from "../db/enrolment-keys-repository.ts";
import { findNetwork, lockNetwork, publishChanges, renewEpoch } from "../db/networks-repository.ts";
import { findPeerByIdentity, updateNodeFacts } from "../db/peers-repository.ts";
import { transact } from "../db/transact.ts";
import type { Failure } from "../domain/failure.ts";
import { makeEpoch } from "../domain/new-network.ts";
import { storedCapabilities } from "../domain/link-profile.ts";
import type { Peer } from "../domain/peer.ts";
import { takesPart } from "../domain/peer-state.ts";
import type { JoiningNode } from "../features/enrolment/enrol-node.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import { hashSecret } from "../registry/secrets.ts";
import { EXPIRED, refusalFor, refuse } from "./handshake.ts";
import type { ProvenHello, Refusal } from "./handshake.ts";

/** Makes a peer out of a node that joins. */
type Enrol = (
  from: { readonly address: string; readonly requestId: string },
  join: { readonly node: JoiningNode; readonly key: Secret<string> },
) => Promise<Result<Peer, Failure>>;

export type AdmitDeps = {
  readonly database: Database;
  readonly clock: WallClock;
  readonly random: RandomBytes;
  readonly enrol: Enrol;
};

/** Finds the peer behind a proven node, or makes it; a known identity keeps its id, name and addresses. */
export async function admitNode(
  deps: AdmitDeps,
  from: { readonly address: string; readonly requestId: string },
  { hello, enrolmentKey }: ProvenHello,
): Promise<Result<Peer, Refusal>> {
  const { db } = deps.database;
  const known = await findPeerByIdentity(db, hello.identityKey);
  if (!known) return enrolmentKey ? join(deps, from, { hello, key: enrolmentKey }) : err(unknownNode(hello));
  if (enrolmentKey) {
    const key = await findEnrolmentKeyByHash(db, hashSecret(enrolmentKey.expose()));
    if (key && key.networkId !== known.networkId) return err(await otherNetwork(deps, known));
  }
  // It stays connected and gets no map until somebody lets it in.
  if (known.state === "pending") return refreshFacts(deps, known, hello);
  const shutOut = known.state === "expired" ? undefined : refusalFor(known.state);
  if (shutOut) return err(shutOut);
  if (!takesPart(known, new Date(deps.clock.nowMs()))) {
    // Whoever has a new key may come back with it.
    if (!enrolmentKey) return err(EXPIRED);
    const renewed = await join(deps, from, { hello, key: enrolmentKey });
    return renewed.ok ? refreshFacts(deps, renewed.value, hello) : renewed;
  }
  return refreshFacts(deps, known, hello);
}

async function join(
  deps: AdmitDeps,
  from: { readonly address: string; readonly requestId: string },
  { hello, key }: { readonly hello: Hello; readonly key: Secret<string> },
): Promise<Result<Peer, Refusal>> {
  const { identityKey, publicKey, hostname, wantedName, os, arch, agentVersion } = hello;
  const capabilities = storedCapabilities(hello.capabilities);
  const node = { identityKey, publicKey, hostname, wantedName, os, arch, agentVersion, capabilities };
  const enrolled = await deps.enrol(from, { node, key }).catch(keyTaken);
  return enrolled.ok ? enrolled : err(enrolmentRefusal(enrolled.error));
}

/** Another node of the network has this WireGuard key: a copied host image. */
function keyTaken(error: unknown) {
  if (isDuplicate(error, "peers_public_key_unique")) return err({ code: "name_taken", name: "key" } as const);
  throw error;
}

/** Stores what changed about a node since its last start; most starts change nothing and write nothing. */
async function refreshFacts(deps: AdmitDeps, known: Peer, hello: Hello): Promise<Result<Peer, Refusal>> {
  const { publicKey, hostname, os, arch, agentVersion } = hello;
  const capabilities = storedCapabilities(hello.capabilities);
  const facts = { publicKey, hostname, os, arch, agentVersion, capabilities };
  const isSame =
    known.publicKey === publicKey &&
    known.hostname === hostname &&
    known.os === os &&
    known.arch === arch &&
    known.agentVersion === agentVersion &&
    known.capabilities.join() === capabilities.join();
  const isAhead = await forgetLostHistory(deps, known, hello);
  if (isSame && !isAhead) return ok(known);
  const updated = await transact(deps.database.db, async (tx) => {
    await lockNetwork(tx, known.networkId);
    await updateNodeFacts(tx, known.id, facts);
    const now = new Date(deps.clock.nowMs());
    await publishChanges(tx, known.networkId, { changes: [{ kind: "peer", peerId: known.id }], at: now });
    return ok({ ...known, ...facts });
  }).catch(keyTaken);
  return updated.ok ? updated : err(enrolmentRefusal(updated.error));
}

/**
 * A node that knows a later sequence of the same epoch than we do proves that history was lost (an old backup was
 * restored): a new epoch makes every node take a whole map.
 */
async function forgetLostHistory(deps: AdmitDeps, known: Peer, hello: Hello): Promise<boolean> {
  const { lastMap } = hello;
  if (!lastMap) return false;
  const network = await findNetwork(deps.database.db, known.networkId);
  if (!network || network.epoch !== lastMap.epoch || lastMap.sequence <= network.sequence) return false;
  await transact(deps.database.db, async (tx) => {
    const locked = await lockNetwork(tx, known.networkId);
    if (locked?.epoch === lastMap.epoch) await renewEpoch(tx, known.networkId, makeEpoch(deps.random));
    return ok(undefined);
  });
  return true;
}

async function otherNetwork(deps: AdmitDeps, known: Peer): Promise<Refusal> {
  const network = await findNetwork(deps.database.db, known.networkId);
  const place = network?.name ?? "another network";
  return refuse("unauthorised", "none", `this node is a member of ${place} already; run "weft leave" there first`);
}

function unknownNode(hello: Hello): Refusal {
  const fingerprint = keyFingerprint(hello.identityKey);
  const message = `no member has the key ${fingerprint}; it was removed or never joined: join with an enrolment key`;
  return refuse("unauthorised", "unknown_node", message);
}

function enrolmentRefusal(failure: Failure): Refusal {
  switch (failure.code) {
    case "enrolment_key_unknown":
      return refuse("unauthorised", failure.code, "the enrolment key is unknown; copy the whole join line again");
    case "enrolment_key_expired":
      return refuse("unauthorised", failure.code, "the enrolment key expired or was revoked; make a new one");
    case "enrolment_key_used_up":
      return refuse("unauthorised", failure.code, "the enrolment key was used as often as it allows; make a new one");
    case "address_pool_full":
      return refuse(
        "unauthorised",
        failure.code,
        `network ${failure.network} has no free address (${failure.capacity} in use)`,
      );
    case "name_taken":
      return refuse("unauthorised", "none", "another node has this WireGuard key; was this host copied from an image?");
    default:
      return refuse("unauthorised", "none", `the server could not enrol this node (${failure.code})`);
  }
}
