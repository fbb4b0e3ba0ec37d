import { afterEach, expect, test } from "vitest";

import { runSoak } from "../bench/soak-run.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { whyNoNamespaces } from "../harness/tools.ts";
import { whyNoDataplane } from "../interop/weft-peer.ts";

afterEach(cleanUpNow);

test("E2E-15 links, addresses, daemons and 1,000 flows a second come and go under load with new keys every 5 s, and nothing is lost or grows", async ({
  skip,
}) => {
  const reason = whyNoNamespaces(["iperf3"]) ?? whyNoDataplane();
  if (reason !== undefined) skip(reason);
  const outcome = await runSoak({ seconds: 40, progress: () => undefined });

  expect(outcome.problems).toEqual([]);
  expect(outcome.disturbances).toBeGreaterThanOrEqual(3);
  expect(outcome.gigabytes).toBeGreaterThan(0.05);
});
