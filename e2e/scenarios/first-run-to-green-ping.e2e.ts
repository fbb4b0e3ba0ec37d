import { expect, test } from "vitest";

import { startBrowser, whyNoBrowser } from "../harness/browser.ts";
import { clicksSoFar, countClicks, keepPicture } from "../harness/dashboard.ts";
import { HUB_ADDRESS, startLabNetwork, stopMesh } from "../harness/mesh.ts";
import { INSTALL_PROGRAMS, runJoinLine } from "../harness/install.ts";
import { relayInto, startServer } from "../harness/server.ts";
import { whyNoMesh } from "../harness/tools.ts";

const COMMANDS_MAX = 3;
const CLICKS_MAX = 6;

test("a new user gets from the first page to a green ping with three commands and six clicks at most", async ({
  skip,
}) => {
  const reason = whyNoMesh(INSTALL_PROGRAMS) ?? whyNoBrowser();
  if (reason !== undefined) skip(reason);
  try {
    let commands = 0;
    const { hub, hosts } = await startLabNetwork();
    // Command 1 is what starts the server; the hosts of the lab reach it at the hub's address.
    const server = await startServer({ env: { WEFT_PUBLIC_URL: `http://${HUB_ADDRESS}:7400` } });
    commands += 1;
    await relayInto(hub, server, HUB_ADDRESS);
    const page = await (await startBrowser()).newPage({ viewport: { width: 1_360, height: 900 } });
    await countClicks(page);

    // The link that the server prints, at the address under which this machine reaches it.
    await page.goto(`${server.url}/setup?setup=${server.setupToken}`);
    await page.getByLabel("User name").waitFor();
    await keepPicture(page, "first-run");
    // The first field has the focus; one goes on by keyboard.
    await page.keyboard.type("owner");
    await page.getByLabel("Password", { exact: true }).focus();
    await page.keyboard.type("three unrelated words here");
    await page.getByRole("button", { name: "Create owner and network" }).click();
    const line = await page.locator("code", { hasText: "/install.sh" }).innerText();
    await keepPicture(page, "add-hosts");
    for (const host of hosts) {
      await runJoinLine(host, line);
      commands += 1;
    }
    await page.locator('section[aria-label="First ping"][data-result="good"]').waitFor({ timeout: 45_000 });
    await keepPicture(page, "first-ping");

    expect(commands).toBeLessThanOrEqual(COMMANDS_MAX);
    expect(await clicksSoFar(page)).toBeLessThanOrEqual(CLICKS_MAX);
  } finally {
    await stopMesh();
  }
});
