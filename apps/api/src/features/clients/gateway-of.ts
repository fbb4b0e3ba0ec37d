import { err, isCanonicalKey, ok, parsePublicKey } from "@weft/protocol";
import type { PublicKey, Result } from "@weft/protocol";
import { countClients } from "../../db/clients-repository.ts";
import type { Executor } from "../../db/client.ts";
import { findPeer } from "../../db/peers-repository.ts";
import { concealFor } from "../../domain/conceal-plan.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Network, Peer } from "../../domain/peer.ts";

/** Reads the key of a client; other ways to write one are refused, so that no key stands there twice. */
export function readClientKey(text: string): Result<PublicKey, Failure> {
  const key = parsePublicKey(text);
  if (key.ok && isCanonicalKey(key.value, "x25519")) return key;
  const message = "expected the 32 bytes of a WireGuard public key in base64";
  return err({ code: "invalid_input", items: [{ pointer: "/publicKey", code: "key", message }] });
}

/** A node of the network that can speak for one more client. The network is locked. */
export async function findGateway(tx: Executor, network: Network, id: string): Promise<Result<Peer, Failure>> {
  const peer = await findPeer(tx, id);
  if (!peer || peer.networkId !== network.id) return err({ code: "not_found", what: "gateway" });
  const unfit = (reason: string) => err({ code: "gateway_unfit", name: peer.name, reason } as const);
  if (peer.kind === "client") return unfit("is a static client itself");
  if (peer.state !== "active") return unfit(`is ${peer.state}`);
  if (peer.endpoints.length === 0) return unfit("has no endpoint that is known; start its agent first");
  if (concealFor(network.conceal, peer))
    return unfit("disguises its datagrams, which plain WireGuard does not understand");
  if ((await countClients(tx, peer.id)) >= CLIENTS_MAX) {
    return err({ code: "limit_reached", what: `static clients behind ${peer.name}`, limit: CLIENTS_MAX });
  }
  return ok(peer);
}

/** Every one of them stands in the maps of all that may reach it, and in the gateway's packet rules. */
const CLIENTS_MAX = 500;
