import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { cleanUpNow } from "../harness/cleanup.ts";
import { eventually } from "../harness/eventually.ts";
import { createLab } from "../harness/namespaces.ts";
import { startPlainPeer } from "../harness/plain-wireguard.ts";
import { INTEROP_KINDS, providePlainWireguard, type PlainKind } from "../harness/provide-plain.ts";
import { whyNoNamespaces } from "../harness/tools.ts";
import { countPings, steadyStream, transferBytes, type Road } from "../harness/traffic.ts";
import { makeWireguardKeys } from "../harness/wireguard-keys.ts";
import { startWeftPeer, whyNoDataplane } from "./weft-peer.ts";

const cases = INTEROP_KINDS.flatMap((kind) => [["initiator", kind] as const, ["responder", kind] as const]);

// Building or installing the other implementations once may take minutes.
beforeAll(async () => {
  if (whyNoNamespaces() === undefined) await Promise.all(INTEROP_KINDS.map(providePlainWireguard));
}, 900_000);
afterAll(cleanUpNow);

describe.concurrent("weft and plain WireGuard", () => {
  test.for(cases)(
    "weft as %s exchanges pings and 100 MB with %s and rekeys under load",
    { timeout: 420_000 },
    async ([role, kind], { skip }) => {
      const reason = await whyNot(kind);
      if (reason !== undefined) skip(reason);
      const pair = await startPair(kind, role);

      const pings = await countPings(pair.road, 20, 50);
      const there = await transferBytes(pair.road, 100_000_000);
      const back = await transferBytes(pair.wayBack, 20_000_000);
      const firstHandshakeAtMs = await pair.weft.newestHandshakeAtMs();
      const stream = await steadyStream(pair.road, 8, REKEY_SECONDS);
      const lastHandshakeAtMs = await pair.weft.newestHandshakeAtMs();
      const lastSeenByPlainAtMs = await pair.plain.newestHandshakeAtMs();
      await pair.lab.dispose();

      expect(pings).toEqual({ sent: 20, received: 20 });
      expect(there).toMatchObject({ receivedBytes: 100_000_000, identical: true });
      expect(back).toMatchObject({ receivedBytes: 20_000_000, identical: true });
      expect(stream.answeredSteps).toBe(stream.sentSteps);
      expect(lastHandshakeAtMs - firstHandshakeAtMs).toBeGreaterThan(60_000);
      expect(Math.abs(lastSeenByPlainAtMs - lastHandshakeAtMs)).toBeLessThan(5_000);
      expect(stream.longestGapMs).toBeLessThan(2_000);
    },
  );
});

async function whyNot(kind: PlainKind): Promise<string | undefined> {
  const reason = whyNoNamespaces() ?? whyNoDataplane();
  if (reason !== undefined) return reason;
  const provided = await providePlainWireguard(kind);
  return "reason" in provided ? provided.reason : undefined;
}

/** Two hosts, ours and a plain one; only the initiator knows where the other is. */
async function startPair(kind: PlainKind, role: "initiator" | "responder") {
  const lab = await createLab();
  const [ours, theirs] = [await lab.host("weft"), await lab.host("plain")];
  await lab.cable(
    { host: ours, interfaceName: "eth0", addresses: ["192.0.2.1/24"] },
    { host: theirs, interfaceName: "eth0", addresses: ["192.0.2.2/24"] },
    "veth",
  );
  const keys = { ours: makeWireguardKeys(), theirs: makeWireguardKeys() };
  pairs += 1;
  const stem = `i${String(process.pid)}${String.fromCharCode(96 + pairs)}`;
  const common = { listenPort: 51_820, mtu: 1_420 };
  const plain = await startPlainPeer(kind, {
    ...common,
    host: theirs,
    interfaceName: `${stem}p`,
    keys: keys.theirs,
    addresses: ["10.9.0.2/24"],
    peer: {
      publicKey: keys.ours.publicKey,
      allowedIps: ["10.9.0.1/32"],
      ...(role === "responder" ? { endpoint: "192.0.2.1:51820" } : {}),
    },
  });
  const weft = await startWeftPeer({
    ...common,
    host: ours,
    interfaceName: `${stem}w`,
    keys: keys.ours,
    addresses: ["10.9.0.1/32"],
    peer: {
      publicKey: keys.theirs.publicKey,
      allowedIps: ["10.9.0.2/32"],
      ...(role === "initiator" ? { endpoint: "192.0.2.2:51820" } : {}),
    },
  });
  const toPlain: Road = { from: ours, to: theirs, address: "10.9.0.2" };
  const toWeft: Road = { from: theirs, to: ours, address: "10.9.0.1" };
  const [road, wayBack] = role === "initiator" ? [toPlain, toWeft] : [toWeft, toPlain];
  await eventually("a first answer", { withinMs: 20_000 }, async () => {
    if (!weft.program.isRunning()) throw new Error(`the weft end ended: ${weft.program.logs()}`);
    return (await countPings(road, 1, 100)).received === 1 ? true : undefined;
  });
  return { lab, plain, weft, road, wayBack };
}

let pairs = 0;
/** Rekey-after-time is 120 s; some seconds remain to see traffic under the new keys. */
const REKEY_SECONDS = 128;
