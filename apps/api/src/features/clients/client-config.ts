import { err, hostPrefix, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Executor } from "../../db/client.ts";
import { findNetwork } from "../../db/networks-repository.ts";
import { findPeer } from "../../db/peers-repository.ts";
import { allRoutes } from "../../db/routes-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import { CLIENT_MTU } from "../../domain/map-content.ts";
import { routeKind } from "../../domain/route.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { ClientConfig, clientsContract } from "./contract.ts";

/** Shows what the configuration of a client says beside its private key, which nobody here has. */
export async function clientConfig(
  deps: FeatureDeps,
  _call: Call,
  { peerId }: InputOf<typeof clientsContract.config>,
): Outcome<typeof clientsContract.config> {
  return readClientConfig(deps.database.db, peerId);
}

/** The configuration as it is now: the gateway's endpoints and the ranges may have changed since the client was made. */
export async function readClientConfig(db: Executor, peerId: string): Promise<Result<ClientConfig, Failure>> {
  const client = await findPeer(db, peerId);
  const network = client && (await findNetwork(db, client.networkId));
  if (!client || !network || client.kind !== "client") return err({ code: "not_found", what: "static client" });
  const gateway = client.gatewayPeerId === null ? undefined : await findPeer(db, client.gatewayPeerId);
  if (!gateway) return err({ code: "gateway_missing", name: client.name });
  const routes = await allRoutes(db, network.id);
  const behind = routes.filter((route) => route.active && routeKind(route) === "subnet").map(({ prefix }) => prefix);
  const ranges = [network.ipv4Range, network.ipv6Range].flatMap((range) => range ?? []);
  return ok({
    name: client.name,
    addresses: [client.ipv4, client.ipv6].flatMap((address) => (address ? [hostPrefix(address)] : [])),
    mtu: CLIENT_MTU,
    gatewayPublicKey: gateway.publicKey,
    // What strangers saw is what a phone far away can reach.
    endpoints: gateway.endpoints
      .toSorted((left, right) => Number(right.source === "observed") - Number(left.source === "observed"))
      .map(({ address }) => address),
    allowedIps: [...ranges, ...[...new Set(behind)].toSorted()],
    keepaliveSeconds: KEEPALIVE_SECONDS,
  });
}

/** Keeps the mappings of common NATs open, so that others reach the client. */
const KEEPALIVE_SECONDS = 25;
