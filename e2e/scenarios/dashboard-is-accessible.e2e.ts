import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";

import { startBrowser, whyNoBrowser } from "../harness/browser.ts";
import { keepPicture, signIn, type ColorScheme } from "../harness/dashboard.ts";
import type { Mesh } from "../harness/mesh.ts";
import { test } from "./mesh-test.ts";

const SCHEMES: readonly ColorScheme[] = ["light", "dark"];

test("axe finds nothing serious on any page, in both themes", async ({ skip, mesh }) => {
  const reason = whyNoBrowser();
  if (reason !== undefined) skip(reason);
  const page = await signIn(await startBrowser(), mesh.server.url, mesh.owned.password);

  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const [name, path] of pages(mesh)) {
      await page.goto(mesh.server.url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await keepPicture(page, `${name}-${colorScheme}`);

      expect({ name, colorScheme, found: await seriousFindings(page) }).toEqual({ name, colorScheme, found: [] });
    }
  }
});

function pages({ owned, grace }: Mesh): [string, string][] {
  const network = `/networks/${owned.networkId}`;
  return [
    ["overview", network],
    ["peers", `${network}/peers`],
    ["peer", `${network}/peers/${grace.peerId}`],
    ["add-host", `${network}/peers/add`],
    ["policy", `${network}/policy`],
    ["settings", `${network}/settings`],
    ["access", "/access"],
  ];
}

async function seriousFindings(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
}
