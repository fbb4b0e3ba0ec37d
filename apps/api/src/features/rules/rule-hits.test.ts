import type { AgentFrame, RuleCounters } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent, eventually, makeIdentity } from "../../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let rule: Json;
let quiet: Json;
let [ada, bob]: SimulatedAgent[] = [];
const identity = makeIdentity();

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
  const rules = `/api/v1/networks/${network.id}/rules`;
  rule = (await owner.post(rules, { name: "busy", kind: "all-to-all", protocol: "tcp" })).body;
  quiet = (await owner.post(rules, { name: "never met", kind: "all-to-all", protocol: "udp" })).body;
  const { key } = await makeKey(owner, network.id);
  ada = await connectAgent(server.url, { joinKey: key, hostname: "ada", identity });
  bob = await connectAgent(server.url, { joinKey: key, hostname: "bob" });
});
afterAll(() => server.dispose());

function met(changes: Partial<RuleCounters> = {}): RuleCounters {
  return { rule: rule.number, packets: 10n, bytes: 1_000n, drops: 2n, flows: 3n, lastHitAgeMs: 5_000, ...changes };
}

function counters(counterEpoch: bigint, ...rules: readonly RuleCounters[]): AgentFrame {
  const peers = { peerIds: [], rxBytes: [], rxPackets: [], txBytes: [], txPackets: [], drops: [] };
  const ages = { lastHandshakeAgeMs: [], lastReceivedAgeMs: [], sessionAgeMs: [], endpoints: [] };
  const facts = { uptimeMs: 1_000, stages: [], totals: [], cpuMicroseconds: 0n, rssBytes: 1 };
  return { kind: "counters", counters: { counterEpoch, ...facts, peers: { ...peers, ...ages }, rules } };
}

/** Lets a node report, writes it down, and reads the sums. */
async function hitsAfter(agent: SimulatedAgent | undefined, frame: AgentFrame): Promise<Json[]> {
  const path = `/api/v1/networks/${network.id}/rule-hits`;
  const before = JSON.stringify((await owner.get(path)).body);
  agent!.send(frame);
  return eventually(
    "sums that moved",
    async () => {
      const { body } = await owner.get(path);
      return JSON.stringify(body) === before ? undefined : body.items;
    },
    20_000,
  );
}

test("AP-60 F-G9: what met a rule is added up over nodes and over their starts, and rules nothing met are seen", async () => {
  const first = await hitsAfter(ada, counters(1n, met(), met({ rule: 1 })));
  expect(first).toMatchObject([{ ruleId: rule.id, packets: "10", bytes: "1000", drops: "2", flows: "3" }]);
  expect(first[0].ruleId).not.toBe(quiet.id);
  expect(Date.now() - Date.parse(first[0].lastHitAt)).toBeGreaterThan(4_000);

  expect(await hitsAfter(ada, counters(1n, met({ packets: 15n })))).toMatchObject([{ packets: "15", flows: "3" }]);
  expect(await hitsAfter(bob, counters(9n, met()))).toMatchObject([{ packets: "25", drops: "4" }]);
  // The node's engine starts anew.
  expect(await hitsAfter(ada, counters(2n, met({ packets: 1n })))).toMatchObject([{ packets: "26", drops: "6" }]);
  // A rule that was off for a while counts from zero.
  expect(await hitsAfter(bob, counters(9n, met({ packets: 4n })))).toMatchObject([{ packets: "30", drops: "6" }]);
}, 60_000);

test("AP-60 F-G9: sums do not move when the server restarts and a node tells the same again", async () => {
  server = await server.restart();
  const cookie = owner.cookie();
  owner = createRestClient(server.url, { ...(cookie !== undefined && { cookie }) });
  ada = await connectAgent(server.url, { identity, hostname: "ada" });
  ada.send(counters(2n, met({ packets: 1n })));

  expect(await hitsAfter(ada, counters(2n, met({ packets: 3n })))).toMatchObject([{ packets: "32", drops: "6" }]);
}, 60_000);
