import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { cleanUpNow } from "../harness/cleanup.ts";
import { eventually } from "../harness/eventually.ts";
import { createLab } from "../harness/namespaces.ts";
import { startPlainPeer } from "../harness/plain-wireguard.ts";
import { type PlainKind, providePlainWireguard } from "../harness/provide-plain.ts";
import { whyNoNamespaces } from "../harness/tools.ts";
import { countPings, steadyStream, transferBytes, type Road } from "../harness/traffic.ts";
import { makeWireguardKeys } from "../harness/wireguard-keys.ts";
import { startWeftPeer, whyNoDataplane } from "./weft-peer.ts";

type Disguise = Readonly<Record<string, string>>;
type Role = "initiator" | "responder";

const BASE: Disguise = {
  jc: "3",
  jmin: "10",
  jmax: "20",
  s1: "15",
  s2: "18",
  s3: "20",
  s4: "25",
  h1: "123456-123500",
  h2: "67543-67550",
  h3: "223344-223350",
  h4: "32345-32350",
};
const SIGNED: Disguise = { ...BASE, i1: "<b 0xdeadbeef><r 4><rd 3><rc 3><t>" };
const HEADER_KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const PROTECTED: Disguise = { ...BASE, header_protection_key: HEADER_KEY };

/** "amneziawg-peer" is the module of 2.0; "amneziawg-go" a program of 3.1 that is given by WEFT_BENCH_AMNEZIAWG_GO. */
const SETS: readonly (readonly [name: string, kind: PlainKind, disguise: Disguise])[] = [
  ["2.0 with paddings, types and junk", "amneziawg-peer", BASE],
  ["2.0 with signature packets", "amneziawg-peer", SIGNED],
  ["3.1 with header protection", "amneziawg-go", PROTECTED],
  ["3.1 with random trailers", "amneziawg-go", { ...BASE, random_trailers: "1" }],
  [
    "3.1 with everything",
    "amneziawg-go",
    { ...PROTECTED, i1: "<b 0xdeadbeef><r 4>", random_trailers: "1", content_padding_addition: "5-9" },
  ],
];
const cases = SETS.flatMap(([name, kind, disguise]) =>
  (["initiator", "responder"] as const).map((role): [Role, string, PlainKind, Disguise] => [
    role,
    name,
    kind,
    disguise,
  ]),
);

beforeAll(async () => {
  if (whyNoNamespaces() === undefined) await providePlainWireguard("amneziawg-peer");
}, 900_000);
afterAll(cleanUpNow);

describe.concurrent("weft and AmneziaWG", () => {
  test.for(cases)(
    "weft as %s exchanges pings and 100 MB with %s and rekeys under load",
    { timeout: 420_000 },
    async ([role, , kind, disguise], { skip }) => {
      const reason = await whyNot(kind);
      if (reason !== undefined) skip(reason);
      const pair = await startPair({ kind, role, disguise });

      const pings = await countPings(pair.road, 20, 50);
      const there = await transferBytes(pair.road, 100_000_000);
      const back = await transferBytes(pair.wayBack, 100_000_000);
      const firstHandshakeAtMs = await pair.weft.newestHandshakeAtMs();
      const stream = await steadyStream(pair.road, 8, pair.rekeySeconds + 8);
      const lastHandshakeAtMs = await pair.weft.newestHandshakeAtMs();
      await pair.lab.dispose();

      expect(pings).toEqual({ sent: 20, received: 20 });
      expect(there).toMatchObject({ receivedBytes: 100_000_000, identical: true });
      expect(back).toMatchObject({ receivedBytes: 100_000_000, identical: true });
      expect(stream.answeredSteps).toBe(stream.sentSteps);
      expect(lastHandshakeAtMs).toBeGreaterThan(firstHandshakeAtMs);
    },
  );
});

async function whyNot(kind: PlainKind): Promise<string | undefined> {
  const reason = whyNoNamespaces() ?? whyNoDataplane();
  if (reason !== undefined) return reason;
  const provided = await providePlainWireguard(kind);
  return "reason" in provided ? provided.reason : undefined;
}

/** Two hosts under one profile; only the initiator knows where the other is, and only it renews the keys. */
async function startPair(wanted: { readonly kind: PlainKind; readonly role: Role; readonly disguise: Disguise }) {
  const { kind, role, disguise } = wanted;
  const lab = await createLab();
  const [ours, theirs] = [await lab.host("weft"), await lab.host("amnezia")];
  await lab.cable(
    { host: ours, interfaceName: "eth0", addresses: ["192.0.2.1/24"] },
    { host: theirs, interfaceName: "eth0", addresses: ["192.0.2.2/24"] },
    "veth",
  );
  const keys = { ours: makeWireguardKeys(), theirs: makeWireguardKeys() };
  pairs += 1;
  const stem = `a${String(process.pid)}${String.fromCharCode(96 + pairs)}`;
  const common = { listenPort: 51_820, mtu: 1_380, disguise };
  const plain = await startPlainPeer(kind, {
    ...common,
    // A peer of 3.1 can be told to renew its keys soon.
    disguise: kind === "amneziawg-go" ? { ...disguise, rekey_after_time: String(QUICK_REKEY_SECONDS) } : disguise,
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
    rekeyAfterSeconds: QUICK_REKEY_SECONDS,
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
  await eventually("a first answer", { withinMs: 40_000 }, async () => {
    if (!weft.program.isRunning()) throw new Error(`the weft end ended: ${weft.program.logs()}`);
    return (await countPings(road, 1, 100)).received === 1 ? true : undefined;
  });
  const isSlow = role === "responder" && kind === "amneziawg-peer";
  return { lab, plain, weft, road, wayBack, rekeySeconds: isSlow ? REKEY_SECONDS : QUICK_REKEY_SECONDS };
}

let pairs = 0;
const QUICK_REKEY_SECONDS = 10;
/** Rekey-after-time of WireGuard, which a peer of 2.0 always has. */
const REKEY_SECONDS = 120;
