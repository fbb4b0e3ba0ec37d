import { aPublicKey, aNetworkMap } from "@weft/protocol/testing";
import { parseIpv4, type Ipv4Address } from "@weft/protocol";
import type { FlowState } from "@weft/dataplane";
import { expect, test } from "vitest";

import { flowsView } from "../../daemon/flows-view.ts";
import { flowLines } from "./flows.ts";

function address(text: string): Ipv4Address {
  const parsed = parseIpv4(text);
  if (!parsed.ok) throw new Error("a literal of this test is wrong");
  return parsed.value;
}

const map = aNetworkMap(1);

function aFlow(changes: Partial<FlowState> = {}): FlowState {
  return {
    publicKey: map.peers[0]?.publicKey ?? null,
    protocol: 6,
    local: address("10.77.0.1"),
    remote: address("10.77.0.2"),
    localPort: 40_000,
    remotePort: 443,
    icmpType: null,
    began: "here",
    verdict: "allow",
    rule: 3,
    rxPackets: 2,
    rxBytes: 2_048,
    txPackets: 1,
    txBytes: 100,
    drops: 0,
    ageMs: 5_000,
    idleMs: 2_000,
    ...changes,
  };
}

const rules = {
  columns: ["rule", "packets", "bytes", "drops"],
  rows: 1,
  values: BigUint64Array.of(3n, 3n, 2_148n, 1n),
};

function viewOf(flows: readonly FlowState[], total = flows.length) {
  const empty = { columns: [], rows: 0, values: BigUint64Array.of() };
  const counters = { peers: { ...empty, publicKeys: [] }, shards: { ...empty, stageNames: [] }, totals: empty, rules };
  const tunnel = { flows: () => ({ total, flows }), counters: () => ({ ...counters, handshakes: HANDSHAKES }) };
  return flowsView(tunnel, map, 10);
}

test("a flow is named by its peer, its ends and its rule, and each rule says what met it", () => {
  const lines = flowLines(viewOf([aFlow()], 8)).map((line) => line.split(/ {2,}/));

  expect(lines[1]).toEqual([
    map.peers[0]?.name,
    "tcp",
    "10.77.0.1:40000",
    "→",
    "10.77.0.2:443",
    "3",
    "2.0 KiB",
    "100 B",
    "0",
    "2 s",
  ]);
  expect(lines[2]).toEqual(["and 7 more"]);
  expect(lines.at(-1)).toEqual(["3", "3", "2.1 KiB", "1"]);
});

test("a flow that no rule matched says so, and one of a peer that is gone has no name", () => {
  const denied = aFlow({ publicKey: aPublicKey(99), protocol: 1, icmpType: 8, localPort: null, remotePort: null });
  const [, line = ""] = flowLines(viewOf([{ ...denied, verdict: "deny", rule: null, drops: 4 }]));

  expect(line).toContain("icmp type 8");
  expect(line).toContain("none, denied");
  expect(line.startsWith("-")).toBe(true);
});

test("without a tunnel there are no flows", () => {
  expect(flowsView(null, null, 10)).toEqual({ total: 0, flows: [], rules: [] });
});

const HANDSHAKES = {
  initiationsSent: 0,
  initiationsAccepted: 0,
  responsesAccepted: 0,
  cookieRepliesSent: 0,
  cookieRepliesAccepted: 0,
  gaveUp: 0,
  droppedMalformed: 0,
  droppedUnknownPeer: 0,
  droppedReplay: 0,
  droppedTooFast: 0,
  droppedBadTag: 0,
  droppedUnknownIndex: 0,
  droppedUnderLoad: 0,
  droppedQueueFull: 0,
};
