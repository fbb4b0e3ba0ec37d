import { Secret } from "@weft/protocol";
import type { TunnelPeer } from "../tunnel.ts";
import type { ContractPeer } from "./tunnel-contract.ts";

/** The contract's plain peer as a tunnel takes it. */
export function tunnelPeerOf({ presharedKey, ...peer }: ContractPeer): TunnelPeer {
  if (presharedKey === undefined) return peer;
  return { ...peer, presharedKey: new Secret(new Uint8Array(Buffer.from(presharedKey, "base64"))) };
}
