import { act, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { strings } from "../../strings/index.ts";
import { aPeer, aRule, NOW } from "../../testing/builders.ts";
import { renderApp } from "../../testing/render-app.tsx";
import { attention } from "./attention.ts";

const PATH = "/networks/net_home";

test("one sentence answers whether everything is well", async () => {
  const peers = [aPeer({ name: "a" }), aPeer({ name: "b" })];
  const { api } = renderApp(PATH, { world: { peers, rules: [aRule()] } });
  await waitFor(() => expect(api.listeners("live.network")).toHaveLength(1));

  act(() => {
    const listener = api.listeners("live.network").at(0);
    listener?.send({ kind: "peers", peers });
    listener?.send({
      kind: "sample",
      atMs: NOW,
      peers: [],
      totals: { rxBitsPerSecond: 3_400_000_000, txBitsPerSecond: 0 },
    });
  });

  expect(await screen.findByText("2 of 2 peers online, 3.40 Gbit/s, all changes applied.")).toBeTruthy();
  expect(await screen.findByText("Nothing needs your attention.")).toBeTruthy();
});

test("the throughput chart begins with the network's history, before any sample", async () => {
  const peers = [aPeer({ name: "a" })];
  const { api } = renderApp(PATH, { world: { peers, rules: [aRule()] } });
  await waitFor(() => expect(api.listeners("live.network")).toHaveLength(1));
  expect(await screen.findByText(strings.chart.empty)).toBeTruthy();

  act(() => {
    const listener = api.listeners("live.network").at(0);
    const points = [30, 20, 10].map((age) => ({
      atMs: NOW - age * 1_000,
      rxBitsPerSecond: 2_000_000,
      txBitsPerSecond: 1_000_000,
    }));
    listener?.send({ kind: "history", points });
    listener?.send({ kind: "peers", peers });
  });

  await waitFor(() => expect(screen.queryByText(strings.chart.empty)).toBeNull());
});

test("AP-7 the overview names peers with a problem, and with a clock that is off by a second or more", () => {
  const peers = [
    aPeer({ name: "exact", clockSkewMs: 999 }),
    aPeer({ name: "late", clockSkewMs: -1_000 }),
    aPeer({ name: "router", problems: ["nft is missing"], clockSkewMs: 0 }),
  ];

  expect(
    attention({ peers, rules: "some", waitingRoutes: 0 }).map((item) =>
      item.kind === "problem" ? [item.peer.name, item.problem] : item,
    ),
  ).toEqual([
    ["late", expect.stringContaining("1.0 s behind the server's")],
    ["router", "nft is missing"],
  ]);
});

test("a peer that is offline is named, with the way to it", async () => {
  renderApp(PATH, { world: { peers: [aPeer({ name: "db-1", presence: "offline" })], rules: [aRule()] } });

  expect(await screen.findByText("db-1 is offline")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Look at peer db-1" }).getAttribute("href")).toBe(
    "/networks/net_home/peers/peer_db-1",
  );
});

test("UI-10 an empty network offers the next step", async () => {
  renderApp(PATH);

  expect((await screen.findByRole("link", { name: "Add hosts" })).getAttribute("href")).toBe(
    "/networks/net_home/peers",
  );
});

test("the worst comes first: no rule, then gone, then behind, then silent", () => {
  const peers = [
    aPeer({ name: "silent", presence: "unknown" }),
    aPeer({ name: "behind", map: { state: "pending", sequence: 2, appliedAfterMs: null } }),
    aPeer({ name: "gone", presence: "offline" }),
    aPeer({ name: "well" }),
  ];

  expect(attention({ peers, rules: "none", waitingRoutes: 2 }).map((item) => item.kind)).toEqual([
    "no-rule",
    "offline",
    "routes-wait",
    "pending",
    "unknown",
  ]);
  expect(attention({ peers, rules: "unknown", waitingRoutes: 0 })).toHaveLength(3);
});

test.each([aRule({ state: "off" }), aRule({ action: "deny" })])(
  "a rule that is $state and says $action allows nothing, and that needs a look",
  async (rule) => {
    renderApp(PATH, { world: { peers: [aPeer()], rules: [rule] } });

    expect(await screen.findByText("No rule allows anything")).toBeTruthy();
  },
);
