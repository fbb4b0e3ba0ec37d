import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { aGroup, aPeer, at, NOW } from "../../testing/builders.ts";
import { Refusal } from "../../testing/in-memory-link.ts";
import { renderApp } from "../../testing/render-app.tsx";

const THREE = [
  aPeer({ name: "web-10", ipv4: "100.80.0.10" }),
  aPeer({ name: "web-2", ipv4: "100.80.0.2", presence: "offline", lastSeenAt: at(7_200) }),
  aPeer({ name: "db-1", ipv4: "100.80.0.1", map: { state: "pending", sequence: 9, appliedAfterMs: null } }),
];

const names = (): (string | null)[] =>
  within(screen.getByRole("table", { name: "Peers" }))
    .getAllByRole("row")
    .slice(1)
    .map((row) => within(row).getAllByRole("link").at(0)!.textContent);

test("UI-2 UI-3 a row has status word, relative time with the exact one, and copy buttons", async () => {
  renderApp("/networks/net_home/peers", { world: { peers: THREE } });

  const row = (await screen.findByRole("link", { name: "web-2" })).closest("tr")!;

  expect(within(row).getByText("Offline")).toBeTruthy();
  expect(within(row).getByText("2h ago").getAttribute("title")).toContain("2026");
  for (const what of ["name web-2", "address 100.80.0.2", "address fd7a:9b2c:11::1", "endpoint 203.0.113.7:51820"]) {
    expect(within(row).getByRole("button", { name: `Copy ${what}` })).toBeTruthy();
  }
  expect(screen.getByText("2 of 3 peers online, 1 change waiting to be applied.")).toBeTruthy();
});

test("names sort as people count, and the order is in the address", async () => {
  const { user, router } = renderApp("/networks/net_home/peers", { world: { peers: THREE } });
  await screen.findByRole("link", { name: "db-1" });
  expect(names()).toEqual(["db-1", "web-2", "web-10"]);

  await user.click(screen.getByRole("button", { name: "Name" }));

  await waitFor(() => expect(names()).toEqual(["web-10", "web-2", "db-1"]));
  expect(router.state.location.search).toEqual({ sort: "-name" });
  expect(screen.getByRole("columnheader", { name: "Name" }).getAttribute("aria-sort")).toBe("descending");
});

test("UI-1 UI-11 filter and search live in the address, and the count follows them", async () => {
  const { user, router } = renderApp("/networks/net_home/peers?show=online", { world: { peers: THREE } });
  await screen.findByRole("link", { name: "db-1" });
  expect(names()).toEqual(["db-1", "web-10"]);
  expect(screen.getByText("2 of 3 peers")).toBeTruthy();

  await user.type(screen.getByRole("searchbox", { name: "Search peers" }), "0.10");

  await waitFor(() => expect(names()).toEqual(["web-10"]));
  expect(router.state.location.search).toEqual({ show: "online", q: "0.10" });
  expect(screen.getByText("1 of 3 peers")).toBeTruthy();
});

test("a search that finds nothing says so and leads back", async () => {
  const { user } = renderApp("/networks/net_home/peers?q=nope", { world: { peers: THREE } });
  expect(await screen.findByText("No peer matches.")).toBeTruthy();

  await user.click(screen.getByRole("button", { name: "Show all peers" }));

  await waitFor(() => expect(names()).toHaveLength(3));
});

test("UI-12 the figures follow the samples", async () => {
  const { api } = renderApp("/networks/net_home/peers", { world: { peers: THREE } });
  await screen.findByRole("link", { name: "db-1" });
  const row = {
    peerId: "peer_db-1",
    rxBitsPerSecond: 3_412_000_000,
    txBitsPerSecond: 2_000,
    rxBytes: "1",
    txBytes: "1",
  };

  act(() => {
    const listener = api.listeners("live.network").at(0);
    listener?.send({ kind: "peers", peers: THREE });
    listener?.send({ kind: "sample", atMs: NOW, peers: [row], totals: { rxBitsPerSecond: 1, txBitsPerSecond: 1 } });
  });

  expect(
    await screen.findByRole("img", { name: "Last minute of db-1: receives 3.41 Gbit/s, sends 2.00 kbit/s" }),
  ).toBeTruthy();
  expect(screen.getByRole("img", { name: "Last minute of web-10: receives 0 bit/s, sends 0 bit/s" })).toBeTruthy();
});

test("the page has one subscription, and none after one leaves it", async () => {
  const { api, user } = renderApp("/networks/net_home/peers", { world: { peers: THREE } });
  await screen.findByRole("link", { name: "db-1" });
  expect(api.listeners("live.network")).toHaveLength(1);

  await user.click(screen.getByRole("link", { name: "Policy" }));

  await screen.findByRole("heading", { name: "Policy" });
  expect(api.listeners("live.network")).toHaveLength(0);
});

test("UI-7 a peer is removed only after its name was typed", async () => {
  const { user, world } = renderApp("/networks/net_home/peers", { world: { peers: [...THREE] } });
  await user.click(await screen.findByRole("button", { name: "Actions for peer db-1" }));
  await user.click(screen.getByRole("menuitem", { name: "Remove" }));
  const dialog = await screen.findByRole("alertdialog", { name: "Remove peer db-1" });
  const button = within(dialog).getByRole<HTMLButtonElement>("button", { name: "Remove peer db-1" });
  expect(button.disabled).toBe(true);

  await user.type(within(dialog).getByRole("textbox", { name: "Type db-1 to confirm" }), "db-1");
  await user.click(button);

  expect(await screen.findByText("Peer db-1 was removed.")).toBeTruthy();
  expect(world.peers.map((peer) => peer.name)).toEqual(["web-10", "web-2"]);
});

test("F-A4 a name that is no host name is refused before it is sent", async () => {
  const { user, api, world } = renderApp("/networks/net_home/peers", { world: { peers: [aPeer({ name: "db-1" })] } });
  await user.click(await screen.findByRole("button", { name: "Actions for peer db-1" }));
  await user.click(screen.getByRole("menuitem", { name: "Rename" }));
  const box = await screen.findByRole("textbox", { name: "Name" });

  await user.clear(box);
  await user.type(box, "Not Allowed");
  expect(screen.getByText(/Use lower-case letters/)).toBeTruthy();
  await user.clear(box);
  await user.type(box, "db-main{Enter}");

  expect(await screen.findByText("The peer is now called db-main.")).toBeTruthy();
  expect(world.peers.at(0)?.name).toBe("db-main");
  expect(api.calls.filter((call) => call.path === "peers.update")).toHaveLength(1);
});

test("CP-83 UI-10 a failing first load is an error with a retry, and the retry helps", async () => {
  let state: "broken" | "well" = "broken";
  const { user } = renderApp("/networks/net_home/peers", {
    handlers: {
      "peers.list": () => {
        if (state === "broken") throw new Refusal(422, "broken", "The list cannot be read.");
        return { items: THREE, nextCursor: null };
      },
      "rules.list": () => ({ items: [], nextCursor: null }),
    },
  });
  expect((await screen.findByRole("alert")).textContent).toContain("The list cannot be read.");
  state = "well";

  await user.click(screen.getByRole("link", { name: "Policy" }));
  await user.click(await screen.findByRole("link", { name: "Peers" }));

  expect(await screen.findByRole("link", { name: "db-1" })).toBeTruthy();
});

test("UI-18 a name is text, whatever it looks like", async () => {
  renderApp("/networks/net_home/peers", { world: { peers: [aPeer({ name: "<img src=x onerror=alert(1)>" })] } });

  expect(await screen.findByRole("link", { name: "<img src=x onerror=alert(1)>" })).toBeTruthy();
  expect(document.querySelector("img[src='x']")).toBeNull();
});

test("UI-21 of five thousand peers only the visible rows are in the page", async () => {
  const many = Array.from({ length: 5_000 }, (_, index) => aPeer({ name: `node-${index}` }));
  renderApp("/networks/net_home/peers", { world: { peers: many } });

  const table = await screen.findByRole("table", { name: "Peers" });

  expect(table.getAttribute("aria-rowcount")).toBe("5001");
  expect(within(table).getAllByRole("row").length).toBeLessThan(120);
});

test("UI-4 groups stand in the row, and are chosen and made from it", async () => {
  const groups = [aGroup({ id: "grp_web", name: "web" }), aGroup({ id: "grp_db", name: "databases" })];
  const { user, world } = renderApp("/networks/net_home/peers", {
    world: { peers: [aPeer({ name: "db-1", groupIds: ["grp_web"] })], groups },
  });
  const row = (await screen.findByRole("link", { name: "db-1" })).closest("tr")!;
  expect(await within(row).findByText("web")).toBeTruthy();
  await user.click(within(row).getByRole("button", { name: "Actions for peer db-1" }));
  await user.click(await screen.findByRole("menuitem", { name: "Groups" }));
  const dialog = await screen.findByRole("dialog");
  await user.click(await within(dialog).findByRole("checkbox", { name: "web" }));
  await user.click(within(dialog).getByRole("checkbox", { name: "databases" }));
  await user.type(within(dialog).getByLabelText("New group"), "backups");

  await user.click(within(dialog).getByRole("button", { name: "Save groups" }));

  await waitFor(() => expect(world.peers.at(0)?.groupIds).toEqual(["grp_db", "grp_backups"]));
  expect(world.groups.map(({ name }) => name)).toEqual(["web", "databases", "backups"]);
});

test.each([
  ["Approve", "active"],
  ["Reject", "rejected"],
] as const)("F-A7 a waiting peer says so and is judged in its row: %s", async (verdict, state) => {
  const { user, world } = renderApp("/networks/net_home/peers", {
    world: { peers: [aPeer({ name: "new-1", state: "pending" })] },
  });
  const row = (await screen.findByRole("link", { name: "new-1" })).closest("tr")!;
  expect(within(row).getByText("Waiting")).toBeTruthy();

  await user.click(within(row).getByRole("button", { name: `${verdict} peer new-1` }));

  await waitFor(() => expect(world.peers.at(0)?.state).toBe(state));
  await waitFor(() => expect(screen.queryByRole("button", { name: `${verdict} peer new-1` })).toBeNull());
});
