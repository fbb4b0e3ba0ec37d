import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { z } from "zod";

import { eventually } from "../harness/eventually.ts";
import { startSteadyPing } from "../harness/steady-ping.ts";
import { test } from "./mesh-test.ts";

const RulesSchema = z.object({ items: z.array(z.object({ id: z.string(), kind: z.string() })) });

test("without a rule nothing passes; with it traffic resumes", async ({ mesh }) => {
  const { owned, road } = mesh;
  const { client, networkId } = owned;
  const { items } = RulesSchema.parse(await client.get(`/networks/${networkId}/rules`));
  expect(items.map(({ kind }) => kind)).toEqual(["all-to-all"]);
  const ping = startSteadyPing(road, 20);
  await eventually("answers", { withinMs: 5_000 }, () => (ping.answersAtMs.length > 10 ? true : undefined));

  for (const { id } of items) await client.remove(`/rules/${id}`);
  const deniedAtMs = Date.now();
  await pause(2_500);
  const lastBefore = ping.answersAtMs.at(-1) ?? 0;
  await client.post(`/networks/${networkId}/rules`, { kind: "all-to-all" });
  await eventually("answers again", { withinMs: 5_000 }, () =>
    (ping.answersAtMs.at(-1) ?? 0) > lastBefore ? true : undefined,
  );
  await ping.stop();

  // From the answer of the API to the last echo.
  expect(lastBefore - deniedAtMs).toBeLessThan(1_000);
});
