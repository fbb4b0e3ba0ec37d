import { expect } from "vitest";
import { z } from "zod";

import { eventually } from "../harness/eventually.ts";
import { countPings, transferBytes } from "../harness/traffic.ts";
import { test } from "./mesh-test.ts";

const FlowSchema = z.object({
  peerId: z.string(),
  otherPeerId: z.string().nullable(),
  protocol: z.number(),
  source: z.string(),
  destination: z.string(),
  destinationPort: z.number().nullable(),
  direction: z.string(),
  verdict: z.string(),
  ruleId: z.string().nullable(),
  rxBytes: z.string(),
  txBytes: z.string(),
  drops: z.string(),
  startedAt: z.string(),
  lastAt: z.string(),
});
const FlowsSchema = z.object({ items: z.array(FlowSchema) });
const RuleSchema = z.object({ id: z.string() });
const HitsSchema = z.object({
  items: z.array(
    z.object({ ruleId: z.string(), flows: z.string(), drops: z.string(), lastHitAt: z.string().nullable() }),
  ),
});

test("AP-65 F-E7 F-G9: flows reach the API with rule, verdict, bytes and drops, and rules show what met them", async ({
  mesh,
}) => {
  const { owned, road, ada, grace } = mesh;
  const { client, networkId } = owned;
  const network = `/networks/${networkId}`;
  const flows = async (query: string) =>
    FlowsSchema.parse(await client.get(`${network}/flow-logs?peerId=${ada.peerId}&${query}`)).items;
  const denying = RuleSchema.parse(
    await client.post(`${network}/rules`, {
      kind: "all-to-all",
      action: "deny",
      protocol: "icmp",
      icmpType: 8,
      position: "first",
    }),
  );
  await eventually("no echo", { withinMs: 5_000 }, async () =>
    (await countPings(road, 2, 100)).received === 0 ? true : undefined,
  );
  expect(await flows("")).toEqual([]);

  await client.patch(network, { flowSampling: 1 });
  await eventually("a refused echo on record", { withinMs: 20_000 }, async () => {
    await countPings(road, 2, 100);
    const [refused] = await flows("protocol=1&verdict=deny");
    return refused;
  });
  const bytes = 5_000_000;
  await transferBytes(road, bytes);

  const sent = await eventually("the transfer on record", { withinMs: 30_000 }, async () =>
    (await flows("protocol=6&verdict=allow")).find((flow) => Number(flow.txBytes) > bytes),
  );
  const [refused] = await flows("protocol=1&verdict=deny");
  const ends = { source: ada.ipv4, destination: grace.ipv4, otherPeerId: grace.peerId, direction: "out" };
  expect(sent).toMatchObject(ends);
  expect(sent.ruleId).not.toBeNull();
  expect(Date.parse(sent.lastAt)).toBeGreaterThanOrEqual(Date.parse(sent.startedAt));
  expect(refused).toMatchObject({ ...ends, ruleId: denying.id, txBytes: "0" });
  expect(Number(refused?.drops)).toBeGreaterThan(0);

  const hits = await eventually("what met the rules", { withinMs: 30_000 }, async () => {
    const { items } = HitsSchema.parse(await client.get(`${network}/rule-hits`));
    return items.length === 2 ? items : undefined;
  });
  expect(Number(hits.find(({ ruleId }) => ruleId === denying.id)?.drops)).toBeGreaterThan(0);
  expect(Number(hits.find(({ ruleId }) => ruleId === sent.ruleId)?.flows)).toBeGreaterThan(0);
});
