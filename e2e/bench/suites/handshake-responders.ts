import type { Host } from "../../harness/namespaces.ts";
import { startPlainPeer, type PlainPeer, type PlainPeerOptions } from "../../harness/plain-wireguard.ts";
import { providePlainWireguard } from "../../harness/provide-plain.ts";
import { makeWireguardKeys, type WireguardKeys } from "../../harness/wireguard-keys.ts";
import { startWeftPeer, whyNoDataplane } from "../../interop/weft-peer.ts";
import { INNER_MTU } from "../settings.ts";

/** Somebody who answers handshakes; configured alike, so that only the answering differs. */
export type Responder = {
  readonly name: string;
  readonly whyNot: () => Promise<string | undefined>;
  readonly start: (options: PlainPeerOptions) => Promise<PlainPeer>;
};

export const RESPONDERS: readonly Responder[] = [
  { name: "weft", whyNot: () => Promise.resolve(whyNoDataplane()), start: startWeftPeer },
  {
    name: "wireguard-go",
    whyNot: async () => {
      const provided = await providePlainWireguard("wireguard-go");
      return "reason" in provided ? provided.reason : undefined;
    },
    start: (options) => startPlainPeer("wireguard-go", options),
  },
];

/** What a responder is started with: its keys, and peers that only it knows of. */
export function responderOptions(wanted: {
  readonly host: Host;
  readonly keys: WireguardKeys;
  readonly peers: readonly WireguardKeys[];
}): PlainPeerOptions {
  started += 1;
  const { host, keys, peers } = wanted;
  return {
    host,
    keys,
    interfaceName: `h${String(process.pid)}x${String(started)}`,
    listenPort: RESPONDER_PORT,
    addresses: ["10.9.0.2/32"],
    mtu: INNER_MTU,
    peer: { publicKey: makeWireguardKeys().publicKey, allowedIps: ["10.9.0.1/32"] },
    extraPeers: peers.map(({ publicKey }, index) => ({
      publicKey,
      allowedIp: `10.10.${String(index >> 8)}.${String(index & 255)}/32`,
    })),
  };
}

export const RESPONDER_PORT = 51_820;
let started = 0;
