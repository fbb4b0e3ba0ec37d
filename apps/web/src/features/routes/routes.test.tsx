import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { AuditEvent } from "../../api/types.ts";
import { aGroup, aPeer, aRoute, aRule, at } from "../../testing/builders.ts";
import { Refusal } from "../../testing/in-memory-link.ts";
import { renderApp } from "../../testing/render-app.tsx";

const PAGE = "/networks/net_home/routes";
const web = aPeer({ name: "web-1" });
const gate = aPeer({ name: "gate-1", ipv4: "100.80.0.2", problems: ["nft is missing"] });
const peers = [web, gate];
const waiting = aRoute({ id: "rt_2", prefix: "10.9.0.0/16", state: "pending", active: false });

function aTakeOver(change: Partial<AuditEvent> = {}): AuditEvent {
  return {
    id: "evt_1",
    at: at(120),
    action: "routes.takeOver",
    actor: { kind: "server", id: null, login: null },
    address: "",
    requestId: "req_1",
    networkId: "net_home",
    objectId: "rt_1",
    before: { prefix: "192.168.1.0/24", routeId: "rt_3" },
    after: { prefix: "192.168.1.0/24", routeId: "rt_1" },
    ...change,
  };
}

test("a range tells who serves it, since when and why, and who stands in reserve", async () => {
  renderApp(PAGE, {
    world: {
      peers,
      routes: [
        aRoute({ description: "the office" }),
        aRoute({ id: "rt_3", peerId: gate.id, active: false, router: "offline" }),
        waiting,
      ],
    },
    handlers: { "auditEvents.list": () => ({ items: [aTakeOver()], nextCursor: null }) },
  });

  const table = await screen.findByRole("table", { name: "Routes" });
  await within(table).findByText(/Took over when gate-1 stopped answering,/);
  const [, serving, reserve, pending] = within(table).getAllByRole("row");
  expect(serving?.textContent).toContain("Took over when gate-1 stopped answering, 2m ago");
  expect(within(serving!).getByText("Traffic goes this way")).toBeTruthy();
  expect(within(serving!).getByText("the office")).toBeTruthy();
  expect(within(reserve!).getByText("In reserve; web-1 serves")).toBeTruthy();
  expect(within(reserve!).getByText("offline")).toBeTruthy();
  expect(within(reserve!).getByText("1 problem")).toBeTruthy();
  expect(within(pending!).getByText("waits for approval")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Copy range 10.9.0.0/16" })).toBeTruthy();
  expect(screen.getByText("3 routes")).toBeTruthy();
});

test("search and filters are in the address and asked of the server; further pages follow", async () => {
  const { user, router, api } = renderApp(`${PAGE}?q=10.9`, {
    world: { peers },
    handlers: {
      "routes.list": ({ cursor }) =>
        cursor === undefined
          ? { items: [waiting], nextCursor: "further", total: 2 }
          : { items: [aRoute({ id: "rt_9", prefix: "10.9.9.0/24" })], nextCursor: null, total: 2 },
    },
  });
  expect(await screen.findByText("1 of 2 routes")).toBeTruthy();

  await user.click(screen.getByRole("button", { name: "More routes" }));
  expect(await screen.findByText("10.9.9.0/24")).toBeTruthy();
  await user.selectOptions(screen.getByRole("combobox", { name: "State" }), "waits for approval");
  await user.selectOptions(screen.getByRole("combobox", { name: "Order" }), "Oldest first");

  await waitFor(() => expect(router.state.location.search).toEqual({ q: "10.9", state: "pending", sort: "createdAt" }));
  await waitFor(() =>
    expect(api.calls.findLast(({ path }) => path === "routes.list")?.input).toMatchObject({
      q: "10.9",
      state: "pending",
      sort: "createdAt",
    }),
  );
});

test("overlaps are told before a route is added, and a wrong range is refused in its box", async () => {
  const { user, world } = renderApp(PAGE, {
    world: { peers },
    handlers: {
      "routes.conflicts": ({ prefix }) => {
        if (!prefix.includes("/")) throw new Refusal(400, "range_invalid", "expected a range in CIDR form");
        return {
          conflicts: [
            { kind: "wider", prefix: "10.0.0.0/8", routeId: "rt_8", warning: `${prefix} is a part of 10.0.0.0/8` },
          ],
        };
      },
    },
  });
  await user.click(await screen.findByRole("button", { name: "Add route" }));
  const dialog = await screen.findByRole("dialog", { name: "Add a route" });
  const range = within(dialog).getByRole("textbox", { name: "Range" });

  await user.type(range, "10.1.0.0");
  expect(await within(dialog).findByText("expected a range in CIDR form")).toBeTruthy();
  await user.type(range, "/16");
  expect(await within(dialog).findByText("10.1.0.0/16 is a part of 10.0.0.0/8")).toBeTruthy();

  const add = within(dialog).getByRole("button", { name: "Add route" });
  expect(add).toHaveProperty("disabled", true);
  await user.click(within(dialog).getByRole("combobox", { name: "Router" }));
  await user.click(await screen.findByRole("option", { name: /^gate-1/ }));
  await user.click(within(dialog).getByRole("checkbox", { name: /Translate addresses/ }));
  await user.click(add);

  expect(await screen.findByText("10.1.0.0/16 waits for approval.")).toBeTruthy();
  expect(world.routes).toMatchObject([{ peerId: gate.id, prefix: "10.1.0.0/16", masquerade: false, priority: 100 }]);
});

test("an approval says what it opens; a refusal takes the route off the list", async () => {
  const { user, world } = renderApp(PAGE, { world: { peers, routes: [waiting] } });
  const menu = { name: "Actions for 10.9.0.0/16 through web-1" };
  await user.click(await screen.findByRole("button", menu));
  await user.click(await screen.findByRole("menuitem", { name: "Refuse" }));
  const refusal = await screen.findByRole("alertdialog", { name: "Refuse 10.9.0.0/16 through web-1" });
  expect(refusal.textContent).toContain("nothing ever went there");
  await user.click(within(refusal).getByRole("button", { name: "Cancel" }));

  await user.click(await screen.findByRole("button", menu));
  await user.click(await screen.findByRole("menuitem", { name: "Approve" }));
  const dialog = await screen.findByRole("dialog", { name: "Approve 10.9.0.0/16 through web-1" });
  expect(dialog.textContent).toContain("Every peer that the rules let reach web-1 may then send");
  await user.click(within(dialog).getByRole("button", { name: "Approve" }));

  expect(await screen.findByText("10.9.0.0/16 is approved. Nodes are applying it.")).toBeTruthy();
  expect(world.routes[0]?.state).toBe("approved");
  expect(await within(screen.getByRole("table", { name: "Routes" })).findByText("approved")).toBeTruthy();
});

test("removing tells who takes over, or that nobody does", async () => {
  const { user, world } = renderApp(PAGE, {
    world: {
      peers,
      routes: [
        aRoute(),
        aRoute({ id: "rt_3", peerId: gate.id, active: false }),
        aRoute({ id: "rt_4", prefix: "172.16.0.0/12" }),
      ],
    },
  });
  const remove = async (route: string) => {
    await user.click(await screen.findByRole("button", { name: `Actions for ${route}` }));
    await user.click(await screen.findByRole("menuitem", { name: "Remove" }));
    return screen.findByRole("alertdialog", { name: `Remove ${route}` });
  };
  const first = await remove("172.16.0.0/12 through web-1");
  expect(first.textContent).toContain("No other router has this range");
  await user.click(within(first).getByRole("button", { name: "Cancel" }));

  const second = await remove("192.168.1.0/24 through web-1");
  expect(await within(second).findByText("gate-1 has a route to the same range and takes over.")).toBeTruthy();
  await user.click(within(second).getByRole("button", { name: "Remove 192.168.1.0/24 through web-1" }));

  await waitFor(() => expect(world.routes.map(({ id }) => id)).toEqual(["rt_3", "rt_4"]));
});

test("a refused change keeps its dialog and shows code and request", async () => {
  const { user } = renderApp(PAGE, {
    world: { peers, routes: [aRoute()] },
    handlers: {
      "routes.update": () => {
        throw new Refusal(409, "conflict", "somebody else was faster");
      },
    },
  });
  await user.click(await screen.findByRole("button", { name: /^Actions for/ }));
  await user.click(await screen.findByRole("menuitem", { name: "Edit" }));
  const dialog = await screen.findByRole("dialog", { name: /^Edit/ });
  const priority = within(dialog).getByRole("textbox", { name: "Priority" });
  const save = within(dialog).getByRole("button", { name: "Save" });
  for (const wrong of ["1001", "-1", "1.5", "1e2", ""]) {
    await user.clear(priority);
    if (wrong !== "") await user.type(priority, wrong);
    expect(save).toHaveProperty("disabled", true);
  }
  await user.clear(priority);
  await user.type(priority, "5");
  await user.click(save);

  const alert = await within(dialog).findByRole("alert");
  expect(alert.textContent).toContain("somebody else was faster");
  expect(alert.textContent).toContain("req_test");
});

test("details name the rules by which groups may use a route, the router's problems and the history", async () => {
  const { user } = renderApp(PAGE, {
    world: {
      peers: [web, aPeer({ ...gate, groupIds: ["grp_routers"] })],
      groups: [aGroup(), aGroup({ id: "grp_routers", name: "routers" }), aGroup({ id: "grp_far", name: "far" })],
      routes: [aRoute({ peerId: gate.id })],
      rules: [
        aRule({
          id: "pol_1",
          name: "into the office",
          source: { kind: "group", id: "grp_servers" },
          destination: { kind: "group", id: "grp_routers" },
          direction: "one-way",
        }),
        aRule({ id: "pol_2", action: "deny", name: "not that" }),
        aRule({ id: "pol_3", state: "off", name: "off rule" }),
        aRule({
          id: "pol_4",
          name: "the way out",
          source: { kind: "group", id: "grp_routers" },
          destination: { kind: "group", id: "grp_far" },
          direction: "one-way",
        }),
        aRule({
          id: "pol_5",
          name: "both",
          source: { kind: "group", id: "grp_routers" },
          destination: { kind: "group", id: "grp_far" },
          direction: "both-ways",
        }),
      ],
    },
    handlers: {
      "auditEvents.list": () => ({
        items: [aTakeOver({ action: "routes.approve", actor: { kind: "user", id: "user_owner", login: "ada" } })],
        nextCursor: null,
      }),
    },
  });
  await user.click(await screen.findByRole("button", { name: /^Actions for/ }));
  await user.click(await screen.findByRole("menuitem", { name: "Details" }));
  const dialog = await screen.findByRole("dialog", { name: "Route 192.168.1.0/24 through gate-1" });

  const users = within(dialog).getByRole("region", { name: "Who may use it" });
  await within(users).findByText("servers");
  expect(
    within(users)
      .getAllByRole("listitem")
      .map(({ textContent }) => textContent),
  ).toEqual(["serversinto the office", "farboth"]);
  expect(within(dialog).getByText("nft is missing")).toBeTruthy();
  expect(await within(dialog).findByText("approved by ada")).toBeTruthy();
});

test("who may only look sees no button that changes", async () => {
  const { user } = renderApp(PAGE, { world: { role: "viewer", peers, routes: [waiting] } });

  expect(await screen.findByText(/You may look/)).toBeTruthy();
  await user.click(await screen.findByRole("button", { name: /^Actions for/ }));

  expect((await screen.findAllByRole("menuitem")).map(({ textContent }) => textContent)).toEqual(["Details"]);
  expect(screen.queryByRole("button", { name: "Add route" })).toBeNull();
});

test("a failed refresh keeps the rows and says that they are old", async () => {
  let answers = 0;
  const { user } = renderApp(PAGE, {
    world: { peers, routes: [waiting] },
    handlers: {
      "routes.list": () => {
        answers += 1;
        if (answers > 1) throw new Refusal(400, "broken");
        return { items: [waiting], nextCursor: null, total: 1 };
      },
    },
  });
  await user.click(await screen.findByRole("button", { name: /^Actions for/ }));
  await user.click(await screen.findByRole("menuitem", { name: "Edit" }));
  await user.click(await screen.findByRole("button", { name: "Save" }));

  expect(await screen.findByText("Refreshing failed. You see what was known before.")).toBeTruthy();
  expect(screen.getByText("10.9.0.0/16")).toBeTruthy();
});

test("the overview tells of routes that wait, and leads to them", async () => {
  const { user, router } = renderApp("/networks/net_home", {
    world: { peers: [web], rules: [aRule()], routes: [waiting, aRoute()] },
  });

  expect(await screen.findByText("1 route waits for approval")).toBeTruthy();
  await user.click(screen.getByRole("link", { name: "Look at routes" }));

  expect(router.state.location).toMatchObject({ pathname: PAGE, search: { state: "pending" } });
});
