import { createSocket } from "node:dgram";
import { parsePrefix, type Prefix, type Result } from "@weft/protocol";
import { generateKeyPair } from "../keys.ts";
import { createTunnel } from "../native-tunnel.ts";
import type { Tunnel, TunnelEvent } from "../tunnel.ts";
import { contractCounters, contractRecords } from "./counters-of.ts";
import type { NativeCall } from "./native-host-calls.ts";
import { tunnelPeerOf } from "./tunnel-peer-of.ts";

/** A real tunnel in a process of its own, inside a network namespace; it does what it is told over the IPC channel. */
function main(): void {
  const [inner = "", network = ""] = process.argv.slice(2);
  const events: TunnelEvent[] = [];
  const heard: string[] = [];
  const { privateKey } = generateKeyPair();
  const tunnel = must(
    createTunnel({
      interfaceName: "weft-test",
      listenPort: 51_820,
      privateKey,
      addresses: [prefix(inner)],
      routes: [prefix(network)],
      mtu: 1_420,
      engine: { shards: 1 },
      onEvent: (event) => void events.push(event),
    }),
  );
  const listeners = new Map([7_007, 7_008].map((port) => [port, createSocket("udp4").bind(port)]));
  for (const socket of listeners.values()) socket.on("message", (payload) => void heard.push(payload.toString()));
  const anyPort = createSocket("udp4");
  const run = (call: NativeCall): unknown => {
    switch (call.name) {
      case "say":
        (listeners.get(call.fromPort ?? 0) ?? anyPort).send(call.text, call.port, call.to, () => {});
        return null;
      case "heard":
        return heard;
      case "events":
        return events;
      default:
        return runOnTunnel(tunnel, call, { routes: [prefix(network)] });
    }
  };
  process.on("message", (message: { readonly id: number; readonly call: NativeCall }) => {
    process.send?.({ id: message.id, value: run(message.call) });
  });
  process.on("disconnect", () => {
    tunnel.close();
    process.exit(0);
  });
  process.send?.({ ready: tunnel.publicKey });
}

type TunnelCall = Exclude<NativeCall, { name: "say" | "heard" | "events" }>;

function runOnTunnel(tunnel: Tunnel, call: TunnelCall, fixed: { readonly routes: readonly Prefix[] }): unknown {
  switch (call.name) {
    case "replacePeers":
      return tunnel.replacePeers(call.peers.map(tunnelPeerOf)).ok;
    case "changePeers":
      return tunnel.changePeers({ upserts: call.upserts.map(tunnelPeerOf), removals: call.removals }).ok;
    case "replaceFilter":
      return tunnel.replaceFilter(call.rules).ok;
    case "moveInner":
      return tunnel.replaceSelf({ addresses: [call.inner], routes: fixed.routes, mtu: 1_420 }).ok;
    case "peers":
      return tunnel.peers();
    case "counters":
      return contractCounters(tunnel);
    case "flows":
      return tunnel.flows(1_000);
    case "flowRecords":
      return contractRecords(tunnel);
    case "close":
      tunnel.close();
      return null;
  }
}

function prefix(text: string): Prefix {
  return must(parsePrefix(text));
}

function must<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

main();
