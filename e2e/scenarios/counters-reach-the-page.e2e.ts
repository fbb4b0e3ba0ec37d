import { expect } from "vitest";

import { startBrowser, whyNoBrowser } from "../harness/browser.ts";
import { keepPicture, signIn } from "../harness/dashboard.ts";
import { steadyStream } from "../harness/traffic.ts";
import { test } from "./mesh-test.ts";

const BOUND_MS = 2_000;

test("traffic shows on the peer page within two seconds", async ({ skip, mesh }) => {
  const reason = whyNoBrowser();
  if (reason !== undefined) skip(reason);
  const page = await signIn(await startBrowser(), mesh.server.url, mesh.owned.password);
  await page.goto(`${mesh.server.url}/networks/${mesh.owned.networkId}/peers/${mesh.grace.peerId}`);
  const chart = page.locator('[aria-label^="Throughput of grace now"]').first();
  await chart.waitFor({ timeout: 15_000 });
  // The page must be past its first sample, or the test would measure its start.
  await page.waitForFunction(() => /receives [\d.]+ k?bit\/s/.test(document.body.innerHTML), undefined, {
    timeout: 15_000,
  });

  const shown = page.waitForFunction(
    () => {
      const label = document.querySelector('[aria-label^="Throughput of grace now"]')?.getAttribute("aria-label") ?? "";
      return /receives [\d.,]+\sMbit\/s/.test(label) ? Date.now() : 0;
    },
    undefined,
    { polling: 20, timeout: 15_000 },
  );
  const stream = steadyStream(mesh.road, 40, 6);
  const seenAtMs = await (await shown).jsonValue();
  await keepPicture(page, "live-traffic");
  const { firstSentAtMs } = await stream;

  if (firstSentAtMs === null) throw new Error("the stream had no connection");
  expect(seenAtMs).toBeGreaterThanOrEqual(firstSentAtMs);
  expect(seenAtMs - firstSentAtMs).toBeLessThanOrEqual(BOUND_MS);
});
