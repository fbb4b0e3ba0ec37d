import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { aLink, aPeer, aPeerSample, NOW } from "../../testing/builders.ts";
import type { PeerSample } from "../../api/types.ts";
import { type RenderedApp, renderApp } from "../../testing/render-app.tsx";

const PEER = aPeer({ name: "web-1" });
const PATH = "/networks/net_home/peers/peer_web-1";

async function send(app: RenderedApp, sample: PeerSample): Promise<void> {
  await waitFor(() => expect(app.api.listeners("live.peer")).toHaveLength(1));
  act(() => app.api.listeners("live.peer").at(0)?.send(sample));
}

test("F-A3 the identity line names addresses, keys and system", async () => {
  renderApp(PATH, { world: { peers: [PEER] } });

  expect(await screen.findByRole("heading", { level: 1, name: "web-1" })).toBeTruthy();
  expect(screen.getByRole("button", { name: "Copy WireGuard key" })).toBeTruthy();
  expect(screen.getByText("7f3a:91c2:0be4:d815")).toBeTruthy();
  expect(screen.getByText("linux x64")).toBeTruthy();
  expect(screen.getByText("applied in 42 ms")).toBeTruthy();
});

test("AP-7 a clock that is off by a second or more is a warning, a smaller difference is just shown", async () => {
  const peers = [
    aPeer({ name: "web-1", clockSkewMs: -3_600_000, problems: ["nft is missing"] }),
    aPeer({ name: "db-1", clockSkewMs: 900 }),
  ];
  renderApp(PATH, { world: { peers } });
  const warning = await screen.findByText("3600.0 s behind the server's");
  expect(warning.closest(".status-warn")).toBeTruthy();
  expect(within(screen.getByRole("region", { name: "Problems" })).getByText("nft is missing")).toBeTruthy();
  cleanup();

  renderApp("/networks/net_home/peers/peer_db-1", { world: { peers } });
  expect((await screen.findByText("0.9 s ahead of the server's")).closest(".status-warn")).toBeNull();
});

test("CP-76 UI-19 an endpoint says where it came from", async () => {
  renderApp(PATH, { world: { peers: [PEER] } });

  expect(await screen.findByText("seen by the server")).toBeTruthy();
  expect(screen.getByText("from the interface")).toBeTruthy();
});

test("the newest sample fills chart, counters and links", async () => {
  const app = renderApp(PATH, { world: { peers: [PEER] } });
  await screen.findByRole("heading", { level: 1, name: "web-1" });

  await send(app, aPeerSample());

  expect(
    await screen.findByRole("img", { name: "Throughput of web-1 now: receives 1.20 Gbit/s, sends 40.0 Mbit/s" }),
  ).toBeTruthy();
  expect(screen.getByText("71.0 MB")).toBeTruthy();
  const links = await screen.findByRole("table", { name: "Links to other peers" });
  expect(within(links).getByRole("link", { name: "db-1" })).toBeTruthy();
  expect(within(links).getAllByText("1 min 23 s")).toHaveLength(2);
});

test("a link without a session says so instead of showing an age", async () => {
  const app = renderApp(PATH, { world: { peers: [PEER] } });
  await screen.findByRole("heading", { level: 1, name: "web-1" });

  await send(app, aPeerSample({ links: [aLink({ sessionAgeSeconds: null, lastHandshakeAgeSeconds: null })] }));

  expect(await screen.findByText("no session")).toBeTruthy();
  expect(screen.getByText("0 of 1")).toBeTruthy();
});

test("drops are worded, sorted by count, and an unknown reason is shown as it came", async () => {
  const app = renderApp(PATH, { world: { peers: [PEER] } });
  await screen.findByRole("heading", { level: 1, name: "web-1" });

  await send(app, aPeerSample({ drops: { dropReplay: "3", dropQueueFull: "1043", newReason: "7", dropFilter: "0" } }));

  const region = await screen.findByRole("region", { name: "Dropped packets" });
  await within(region).findByText("1,043");
  expect(
    within(region)
      .getAllByRole("term")
      .map((term) => term.textContent),
  ).toEqual(["Queue full", "newReason", "Replayed or too old"]);
});

test("F-G3 an offload that fell back gives its reason", async () => {
  const app = renderApp(PATH, { world: { peers: [PEER] } });
  await screen.findByRole("heading", { level: 1, name: "web-1" });

  await send(
    app,
    aPeerSample({ offload: [{ name: "udpGro", state: "fallback", reason: "setsockopt answered EINVAL" }] }),
  );

  const region = await screen.findByRole("region", { name: "Offloads" });
  expect(await within(region).findByText("fell back")).toBeTruthy();
  expect(within(region).getByText("setsockopt answered EINVAL")).toBeTruthy();
});

test("stages show their share of a core and what a packet costs", async () => {
  const app = renderApp(PATH, { world: { peers: [PEER] } });
  await screen.findByRole("heading", { level: 1, name: "web-1" });
  const seal = { stage: "seal", batches: 1_000, packets: 50_000, bytes: 1, nanoseconds: 100_000_000 };

  await send(
    app,
    aPeerSample({
      stages: [
        { ...seal, shard: 0 },
        { ...seal, shard: 1 },
      ],
    }),
  );

  const lane = await screen.findByRole("region", { name: "Out" });
  const stage = within(lane).getByText("Seal").closest("li")!;
  expect(stage.textContent).toContain("20 %");
  expect(stage.textContent).toContain("50 per batch · 2,000 ns each");
});

test("F-G1 each stage tells its meaning and its share of every core without a mouse", async () => {
  const app = renderApp(PATH, { world: { peers: [PEER] } });
  await screen.findByRole("heading", { level: 1, name: "web-1" });
  const seal = { stage: "seal", batches: 1_000, packets: 50_000, bytes: 1 };

  await send(
    app,
    aPeerSample({
      stages: [
        { ...seal, shard: 0, nanoseconds: 100_000_000 },
        { ...seal, shard: 1, nanoseconds: 250_000_000 },
      ],
    }),
  );

  const lane = await screen.findByRole("region", { name: "Out" });
  const stage = within(lane).getByRole("button", { name: "Seal", description: /^Encrypts and authenticates\./ });
  act(() => stage.focus());
  expect(document.activeElement).toBe(stage);
  expect(within(lane).getByText("core 0: 10 %.")).toBeTruthy();
  expect(within(lane).getByText("core 1: 25 %.")).toBeTruthy();
});

test("every offload that agents of this version name is worded", async () => {
  const app = renderApp(PATH, { world: { peers: [PEER] } });
  await screen.findByRole("heading", { level: 1, name: "web-1" });
  const names = ["tunTcp", "tunUdp", "udpGso", "udpGro", "udpBatch", "udpEqualTails", "ioUring", "aes256Gcm", "lanes"];

  await send(app, aPeerSample({ offload: names.map((name) => ({ name, state: "on", reason: null })) }));

  const region = await screen.findByRole("region", { name: "Offloads" });
  await within(region).findByText("AES-256-GCM cipher");
  for (const name of names) expect(within(region).queryByText(name)).toBeNull();
});

test("the values behind the chart are a table, with gaps named", async () => {
  const app = renderApp(PATH, { world: { peers: [PEER] } });
  await screen.findByRole("heading", { level: 1, name: "web-1" });
  await send(app, aPeerSample({ atMs: NOW }));
  await send(app, aPeerSample({ atMs: NOW + 9_000, rxBitsPerSecond: 5_000 }));

  await app.user.click(screen.getByText("Last values as a table"));

  const table = await screen.findByRole("table", { name: "Last values as a table" });
  await within(table).findByText("1.20 Gbit/s");
  expect(within(table).getAllByText("no data")).toHaveLength(2);
  expect(within(table).getByText("5.00 kbit/s")).toBeTruthy();
});

test("the time range lives in the address", async () => {
  const { user, router } = renderApp(PATH, { world: { peers: [PEER] } });

  await user.click(await screen.findByRole("radio", { name: "10 min" }));

  await waitFor(() => expect(router.state.location.search).toEqual({ range: "600" }));
});

test("a peer that was removed is told apart from an error", async () => {
  renderApp("/networks/net_home/peers/peer_gone", { world: { peers: [PEER] } });

  expect(await screen.findByText("This peer does not exist any more.")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

test("totals are those of the peer, not the sum of the links it has now", async () => {
  const app = renderApp(PATH, { world: { peers: [PEER] } });
  await screen.findByRole("heading", { level: 1, name: "web-1" });

  await send(app, aPeerSample({ rxBytes: "20000000000", txBytes: "900000000" }));

  const counters = await screen.findByLabelText("Counters");
  await within(counters).findByText("20.0 GB");
  expect(within(counters).getByText("900 MB")).toBeTruthy();
});

test("a peer that is removed while its page is open is gone, and nobody is told that the server is", async () => {
  const app = renderApp(PATH, { world: { peers: [PEER] } });
  await send(app, aPeerSample());

  app.world.peers = [];
  act(() => app.api.listeners("live.peer").at(0)?.end());

  expect(await screen.findByText("This peer does not exist any more.")).toBeTruthy();
  await waitFor(() => expect(screen.queryByText(/^live data paused/)).toBeNull());
  const asked = app.api.calls.filter(({ path }) => path === "live.peer").length;
  await new Promise((done) => setTimeout(done, 1_200));
  expect(app.api.calls.filter(({ path }) => path === "live.peer")).toHaveLength(asked);
  expect(screen.queryByRole("alert")).toBeNull();
});

test("a peer is expired from its page, shown as such, and let back in", async () => {
  const { user, world } = renderApp(PATH, { world: { peers: [aPeer({ name: "web-1" })] } });
  await user.click(await screen.findByRole("button", { name: "Set expiry" }));
  const dialog = await screen.findByRole("dialog", { name: "Set expiry of peer web-1" });
  await user.selectOptions(within(dialog).getByRole("combobox", { name: "The membership ends" }), "Now");
  await user.click(within(dialog).getByRole("button", { name: "Set expiry" }));

  expect(await screen.findByText("Peer web-1 has expired.")).toBeTruthy();
  expect(await screen.findByText("Expired")).toBeTruthy();
  expect(world.peers.at(0)?.state).toBe("expired");

  await user.click(screen.getByRole("button", { name: "Set expiry" }));
  const again = await screen.findByRole("dialog", { name: "Set expiry of peer web-1" });
  await user.click(within(again).getByRole("button", { name: "Set expiry" }));

  expect(await screen.findByText("The expiry of peer web-1 was set.")).toBeTruthy();
  expect(await screen.findByText("This peer stays a member until it is removed.")).toBeTruthy();
  expect(world.peers.at(0)).toMatchObject({ state: "active", expiresAt: null });
});
