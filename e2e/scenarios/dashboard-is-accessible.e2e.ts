import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, test as plainTest } from "vitest";
import { z } from "zod";

import { startBrowser, whyNoBrowser } from "../harness/browser.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { keepPicture, signIn, type ColorScheme } from "../harness/dashboard.ts";
import type { Mesh } from "../harness/mesh.ts";
import { createOwner, startServer } from "../harness/server.ts";
import { test } from "./mesh-test.ts";

type Look = { readonly colorScheme: ColorScheme; readonly width: number };
/** A page, and what opens a dialog on it. */
type View = {
  readonly name: string;
  readonly path: string;
  readonly button?: string | RegExp;
  /** The entry of the menu that the button opens. */
  readonly entry?: string;
};

const LOOKS: readonly Look[] = [
  { colorScheme: "light", width: 1_360 },
  { colorScheme: "dark", width: 1_360 },
  { colorScheme: "light", width: 360 },
];
const MINUTES = 60_000;

test(
  "UI-17 F-F15 axe finds nothing serious on any page and in any dialog behind the login, in both themes and on a narrow screen",
  { timeout: 8 * MINUTES },
  async ({ skip, mesh }) => {
    const reason = whyNoBrowser();
    if (reason !== undefined) skip(reason);
    const page = await signIn(await startBrowser(), mesh.server.url, mesh.owned.password);
    const empty = z
      .object({ id: z.string() })
      .parse(await mesh.owned.client.post("/networks", { name: "nobody-here-yet" }));

    await addRoutes(mesh);
    await addNames(mesh);

    for (const view of views(mesh, `/networks/${empty.id}`)) await expectNothingSerious(page, mesh.server.url, view);
  },
);

plainTest(
  "UI-17 F-F15 axe finds nothing serious on the first-run page, the login and an invite, in both themes and on a narrow screen",
  async ({ skip }) => {
    const reason = whyNoBrowser();
    if (reason !== undefined) skip(reason);
    try {
      const server = await startServer();
      const page = await (await (await startBrowser()).newContext()).newPage();

      const setup = { name: "setup", path: `/setup?setup=${server.setupToken}` };
      await expectNothingSerious(page, server.url, setup);
      await createOwner(server, "correct horse battery staple");
      const outside = [
        { name: "login", path: "/login" },
        { name: "login-callback", path: "/login/callback" },
        { name: "invite", path: "/invite#used" },
        { name: "client", path: "/client#used.half" },
      ];
      for (const view of outside) await expectNothingSerious(page, server.url, view);
    } finally {
      await cleanUpNow();
    }
  },
);

/** Opens a view once and looks at it in every look; a page follows theme and width while it is open. */
async function expectNothingSerious(page: Page, url: string, view: View): Promise<void> {
  for (const [at, look] of LOOKS.entries()) {
    await page.emulateMedia({ colorScheme: look.colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width: look.width, height: 900 });
    if (at === 0) await open(page, url, view);
    await keepPicture(page, `${view.name}-${look.colorScheme}${look.width < 500 ? "-narrow" : ""}`);

    const shown = { name: view.name, ...look, path: new URL(page.url()).pathname };
    expect({ ...shown, found: await seriousFindings(page) }).toEqual({
      ...shown,
      // A page that leads elsewhere was not looked at.
      path: new URL(url + view.path).pathname,
      found: [],
    });
  }
}

async function open(page: Page, url: string, view: View): Promise<void> {
  await page.goto(url + view.path);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector(".panel-loading") === null);
  if (view.button === undefined) return;
  await page.getByRole("button", { name: view.button }).first().click();
  if (view.entry !== undefined) await page.getByRole("menuitem", { name: view.entry }).click();
  await page.locator('[role="dialog"], [role="alertdialog"]').first().waitFor();
  await page.waitForFunction(() => document.querySelector(".panel-loading") === null);
}

/** Routes of each state, an approver, an exit node and somebody who uses it. */
async function addRoutes({ owned: { client, networkId }, ada, grace }: Mesh): Promise<void> {
  const Made = z.object({ id: z.string() });
  const add = async (prefix: string, description: string): Promise<string> =>
    Made.parse(await client.post(`/peers/${ada.peerId}/routes`, { prefix, description })).id;
  await client.post(`/routes/${await add("192.168.7.0/24", "the office")}/approve`, {});
  await add("192.168.0.0/16", "");
  await client.post(`/routes/${await add("::/0", "way out")}/approve`, {});
  const group = Made.parse(await client.post(`/networks/${networkId}/groups`, { name: "routers" }));
  await client.post(`/networks/${networkId}/route-approvers`, { groupId: group.id, prefix: "10.0.0.0/8" });
  await client.post(`/peers/${grace.peerId}/exit-node`, { exitPeerId: ada.peerId, lost: "direct" });
}

/** A record and nameservers. */
async function addNames({ owned: { client, networkId } }: Mesh): Promise<void> {
  const record = { name: "printer", type: "A", value: "192.168.7.9", description: "third floor" };
  await client.post(`/networks/${networkId}/dns/records`, record);
  const office = { name: "office", servers: ["10.0.0.53", "10.0.0.54:5353"], domains: ["corp.example"] };
  await client.post(`/networks/${networkId}/dns/nameservers`, office);
}

function views({ owned, ada, grace }: Mesh, emptyNetwork: string): readonly View[] {
  const network = `/networks/${owned.networkId}`;
  const peer = `${network}/peers/${grace.peerId}`;
  return [
    { name: "networks", path: "/networks" },
    { name: "overview", path: network },
    { name: "overview-empty", path: emptyNetwork },
    { name: "peers", path: `${network}/peers` },
    { name: "peers-empty", path: `${emptyNetwork}/peers` },
    { name: "peer", path: peer },
    { name: "add-host", path: `${network}/peers/add` },
    { name: "policy", path: `${network}/policy` },
    { name: "routes", path: `${network}/routes` },
    { name: "routes-empty", path: `${emptyNetwork}/routes` },
    { name: "exits", path: `${network}/routes?view=exits` },
    { name: "exits-empty", path: `${emptyNetwork}/routes?view=exits` },
    { name: "approvers", path: `${network}/routes?view=approvers` },
    { name: "names", path: `${network}/names` },
    { name: "names-empty", path: `${emptyNetwork}/names` },
    { name: "nameservers", path: `${network}/names?view=servers` },
    { name: "domain", path: `${network}/names?view=domain` },
    { name: "diagnose", path: `${network}/diagnose?from=${ada.peerId}&to=${grace.peerId}` },
    { name: "settings", path: `${network}/settings` },
    { name: "access", path: "/access" },
    { name: "access-people", path: "/access?view=people" },
    { name: "access-account", path: "/access?view=account" },
    { name: "audit", path: "/audit" },
    { name: "expirations", path: "/expirations" },
    { name: "dialog-event", path: "/audit", button: /^Show what/ },
    { name: "dialog-rename", path: peer, button: "Rename" },
    { name: "dialog-client", path: `${network}/peers`, button: "Add client" },
    { name: "dialog-remove", path: peer, button: /^Remove/ },
    { name: "dialog-route-add", path: `${network}/routes`, button: "Add route" },
    ...["Details", "Approve", "Edit", "Refuse"].map((entry) => ({
      name: `dialog-route-${entry.toLowerCase()}`,
      path: `${network}/routes?state=pending`,
      button: /^Actions for/,
      entry,
    })),
    { name: "dialog-exit", path: `${network}/routes?view=exits`, button: "Choose exit node" },
    { name: "dialog-approver", path: `${network}/routes?view=approvers`, button: "Add approver" },
    { name: "dialog-record", path: `${network}/names`, button: /^Edit printer/ },
    { name: "dialog-record-remove", path: `${network}/names`, button: /^Remove printer/ },
    { name: "dialog-nameservers", path: `${network}/names?view=servers`, button: "Add nameservers" },
    { name: "dialog-domain", path: `${network}/names?view=domain`, button: "Change" },
    { name: "dialog-rule", path: `${network}/policy`, button: /^Delete rule/ },
    { name: "dialog-token", path: "/access", button: "Create token" },
    { name: "dialog-invite", path: "/access?view=people", button: "Invite" },
    { name: "dialog-person", path: "/access?view=people", button: /^Change/ },
    { name: "dialog-second-factor", path: "/access?view=account", button: "Turn second factor on" },
  ];
}

async function seriousFindings(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
}
