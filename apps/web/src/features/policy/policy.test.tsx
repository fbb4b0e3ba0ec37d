import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { aGroup, aRule } from "../../testing/builders.ts";
import { renderApp } from "../../testing/render-app.tsx";

const PATH = "/networks/net_home/policy";

test("the rule all ↔ all is visible, and so is the denial after it", async () => {
  renderApp(PATH, { world: { rules: [aRule()] } });

  const table = await screen.findByRole("table", { name: "Rules" });

  expect(within(table).getByText("allow")).toBeTruthy();
  expect(within(table).getByText("everything else")).toBeTruthy();
  expect(within(table).getByText("deny")).toBeTruthy();
});

test("UI-7 the last rule goes only after a warning that says what stops", async () => {
  const { user, world } = renderApp(PATH, { world: { rules: [aRule()] } });
  await user.click(await screen.findByRole("button", { name: "Delete rule all ↔ all" }));
  const dialog = await screen.findByRole("alertdialog");
  expect(dialog.textContent).toContain("This is the last rule that allows anything.");

  await user.type(within(dialog).getByRole("textbox"), "deny everything");
  await user.click(within(dialog).getByRole("button", { name: "Delete rule all ↔ all" }));

  expect(await screen.findByText("No rule: nothing is allowed")).toBeTruthy();
  expect(world.rules).toEqual([]);
});

test("a rule that is not the last one needs no typing", async () => {
  const { user, world } = renderApp(PATH, { world: { rules: [aRule({ id: "pol_a" }), aRule({ id: "pol_b" })] } });
  await user.click((await screen.findAllByRole("button", { name: "Delete rule all ↔ all" })).at(1)!);
  const dialog = await screen.findByRole("alertdialog");
  expect(within(dialog).queryByRole("textbox")).toBeNull();

  await user.click(within(dialog).getByRole("button", { name: "Delete rule all ↔ all" }));

  await screen.findByText(/The rule was deleted/);
  expect(world.rules.map((rule) => rule.id)).toEqual(["pol_a"]);
});

test("the rule can be added again", async () => {
  const { user, world } = renderApp(PATH);

  await user.click(await screen.findByRole("button", { name: "Allow all ↔ all" }));

  expect(await screen.findByRole("table", { name: "Rules" })).toBeTruthy();
  expect(world.rules).toHaveLength(1);
});

test("a rule is drawn as what it is: its name, protocol, ports, effect and state", async () => {
  const web = aRule({
    id: "pol_web",
    name: "web only",
    protocol: "tcp",
    ports: [port(443), { low: 8_000, high: 8_080 }],
  });
  const noPing = aRule({ id: "pol_ping", action: "deny", protocol: "icmp", icmpType: 8, icmpCode: 0 });
  const rules = [aRule({ id: "pol_off", state: "off", description: "for the weekend" }), noPing, web];
  renderApp(PATH, { world: { rules } });

  const [, off, ping, named] = within(await screen.findByRole("table", { name: "Rules" })).getAllByRole("row");

  expect(off?.textContent).toContain("for the weekend");
  expect(within(off!).getByText("off")).toBeTruthy();
  expect(within(ping!).getByText("deny")).toBeTruthy();
  expect(within(ping!).queryByText("allow")).toBeNull();
  expect(within(ping!).getByText("ICMP type 8 code 0")).toBeTruthy();
  expect(within(named!).getByText("web only")).toBeTruthy();
  expect(within(named!).getByText("TCP 443, 8000–8080")).toBeTruthy();
  expect(within(named!).queryByText("off")).toBeNull();
  expect(within(named!).getByRole("button", { name: "Delete rule web only" })).toBeTruthy();
  expect(within(ping!).getByRole("button", { name: "Delete rule deny all ↔ all ICMP type 8 code 0" })).toBeTruthy();
});

test.each([
  ["is off", aRule({ state: "off" })],
  ["denies", aRule({ action: "deny" })],
  ["allows one protocol", aRule({ protocol: "udp" })],
])("while the only rule %s, everything can still be allowed", async (_what, rule) => {
  const { user, world } = renderApp(PATH, { world: { rules: [rule] } });

  await user.click(await screen.findByRole("button", { name: "Allow all ↔ all" }));

  await waitFor(() => expect(world.rules).toHaveLength(2));
  await waitFor(() => expect(screen.queryByRole("button", { name: "Allow all ↔ all" })).toBeNull());
});

test("the last rule that allows anything is the last one beside rules that are off or deny", async () => {
  const rules = [aRule({ id: "pol_deny", action: "deny", name: "no" }), aRule({ id: "pol_open", name: "yes" })];
  const { user } = renderApp(PATH, { world: { rules } });

  await user.click(await screen.findByRole("button", { name: "Delete rule yes" }));

  expect((await screen.findByRole("alertdialog")).textContent).toContain("This is the last rule that allows anything.");
});

test.each([
  ["off", aRule({ state: "off" }), "This rule changes nothing now"],
  ["denying", aRule({ action: "deny", name: "all ↔ all" }), "What only this rule denies is allowed afterwards"],
])("deleting a rule that is %s says what changes, and needs no typing", async (_what, rule, consequence) => {
  const { user } = renderApp(PATH, { world: { rules: [rule] } });

  await user.click(await screen.findByRole("button", { name: "Delete rule all ↔ all" }));
  const dialog = await screen.findByRole("alertdialog");

  expect(dialog.textContent).toContain(consequence);
  expect(within(dialog).queryByRole("textbox")).toBeNull();
});

test("a rule tells the number under which nodes count it", async () => {
  renderApp(PATH, { world: { rules: [aRule({ number: 7_340_012 })] } });

  expect(await screen.findByText("Rule 7340012 in “weft flows”")).toBeTruthy();
});

function port(number: number): { readonly low: number; readonly high: number } {
  return { low: number, high: number };
}

test("a rule is turned off and on again from its row", async () => {
  const { user, world } = renderApp(PATH, { world: { rules: [aRule()] } });

  await user.click(await screen.findByRole("button", { name: "Turn off rule all ↔ all" }));
  await user.click(await screen.findByRole("button", { name: "Turn on rule all ↔ all" }));

  await screen.findByRole("button", { name: "Turn off rule all ↔ all" });
  expect(world.rules.map(({ state }) => state)).toEqual(["on"]);
});

test("F-B1 F-B2 a rule between groups is added with its direction, protocol and ports, and shown by their names", async () => {
  const groups = [aGroup({ id: "grp_clients", name: "clients" }), aGroup({ id: "grp_servers", name: "servers" })];
  const { user, world } = renderApp(PATH, { world: { rules: [aRule()], groups } });
  await user.click(await screen.findByRole("button", { name: "Add rule" }));
  const dialog = await screen.findByRole("dialog");
  await user.selectOptions(within(dialog).getByLabelText("From"), "clients");
  await user.selectOptions(within(dialog).getByLabelText("To"), "servers");
  await user.selectOptions(within(dialog).getByLabelText("Protocol"), "TCP");
  await user.type(within(dialog).getByLabelText("Ports"), "80, x");
  expect(await within(dialog).findByText(/Write ports between/)).toBeTruthy();
  await user.clear(within(dialog).getByLabelText("Ports"));
  await user.type(within(dialog).getByLabelText("Ports"), "80, 8000-8080");

  await user.click(within(dialog).getByRole("button", { name: "Add rule" }));

  const table = await screen.findByRole("table", { name: "Rules" });
  expect(await within(table).findByText("clients")).toBeTruthy();
  expect(within(table).getByText("clients may begin with servers: TCP 80, 8000–8080 is allowed.")).toBeTruthy();
  expect(world.rules.at(-1)).toMatchObject({
    source: { kind: "group", id: "grp_clients" },
    destination: { kind: "group", id: "grp_servers" },
    direction: "one-way",
    ports: [port(80), { low: 8_000, high: 8_080 }],
  });
});

test("F-G9: each rule shows how much it is used, so that unused ones are seen", async () => {
  const rules = [
    aRule(),
    aRule({ id: "pol_deny", action: "deny", protocol: "tcp" }),
    aRule({ id: "pol_new", protocol: "udp" }),
  ];
  const met = { packets: "10", bytes: "2000", drops: "0", flows: "1", lastHitAt: null };
  const ruleHits = [
    { ...met, ruleId: "pol_all" },
    { ...met, ruleId: "pol_deny", flows: "12", drops: "40" },
  ];
  renderApp(PATH, { world: { rules, ruleHits } });

  const table = await screen.findByRole("table", { name: "Rules" });
  await within(table).findByText("never");
  const [, used, denying, unused] = within(table).getAllByRole("row");

  expect(used?.textContent).toContain("1 flow");
  expect(denying?.textContent).toMatch(/12 flows.*40 packets dropped/);
  expect(unused?.textContent).toContain("never");
});
