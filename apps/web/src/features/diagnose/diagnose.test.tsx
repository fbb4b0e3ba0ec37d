import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Diagnosis } from "../../api/types.ts";
import { aPeer } from "../../testing/builders.ts";
import { Refusal } from "../../testing/in-memory-link.ts";
import { renderApp } from "../../testing/render-app.tsx";

const peers = [aPeer({ name: "web-1" }), aPeer({ name: "db-1", ipv4: "100.80.0.2" })];
const denied: Diagnosis = {
  verdict: "cannot",
  steps: [
    { step: "approval", outcome: "good", reason: "both were let in" },
    { step: "policy", outcome: "bad", reason: "rule pol_4 denies it" },
    { step: "handshake", outcome: "unknown", reason: "web-1 has completed no handshake with db-1" },
  ],
};

test("the question in the address is asked, and the failing check is told with its reason", async () => {
  const { api } = renderApp("/networks/net_home/diagnose?from=peer_web-1&to=peer_db-1&protocol=tcp&port=5432", {
    world: { peers },
    handlers: { "peers.diagnose": () => denied },
  });

  expect(await screen.findByText("web-1 cannot reach db-1")).toBeTruthy();
  const steps = within(screen.getByRole("region", { name: "Why" })).getAllByRole("listitem");
  expect(steps.map(({ textContent }) => textContent)).toEqual([
    "Approvalin orderboth were let in",
    "Policyfailsrule pol_4 denies it",
    "Handshakeunknownweb-1 has completed no handshake with db-1",
  ]);
  expect(api.calls.find(({ path }) => path === "peers.diagnose")?.input).toEqual({
    peerId: "peer_web-1",
    targetPeerId: "peer_db-1",
    protocol: "tcp",
    port: 5_432,
  });
});

test("peers are found by typing, and the choice is kept in the address", async () => {
  const { user, router, api } = renderApp("/networks/net_home/diagnose?from=peer_web-1", {
    world: { peers },
    handlers: { "peers.diagnose": () => ({ verdict: "reaches", steps: [] }) },
  });
  const box = await screen.findByRole("combobox", { name: "To" });

  await user.click(box);
  await user.keyboard("db");
  await user.click(await screen.findByRole("option", { name: /^db-1/ }));

  expect(await screen.findByText("web-1 reaches db-1")).toBeTruthy();
  expect(router.state.location.search).toEqual({ from: "peer_web-1", to: "peer_db-1" });
  expect(
    api.calls.some(
      ({ path, input }) => path === "peers.list" && String(Reflect.get(Object(input), "q")).startsWith("d"),
    ),
  ).toBe(true);
});

test("a ping shows how many were answered, how fast and by which path", async () => {
  const { user } = renderApp("/networks/net_home/diagnose?from=peer_web-1&to=peer_db-1", {
    world: { peers },
    handlers: { "peers.diagnose": () => denied },
  });

  await user.click(await screen.findByRole("button", { name: "Ping" }));

  const card = screen.getByRole("region", { name: "Ping through the tunnel" });
  expect(await within(card).findByText("3 of 3 answered")).toBeTruthy();
  expect(
    within(card)
      .getAllByRole("definition")
      .map(({ textContent }) => textContent),
  ).toEqual(["412 µs", "430 µs", "900 µs", "direct", "203.0.113.7:51820"]);
});

test("a refused ping says why", async () => {
  const { user } = renderApp("/networks/net_home/diagnose?from=peer_web-1&to=peer_db-1", {
    world: { peers },
    handlers: {
      "peers.diagnose": () => denied,
      "peers.ping": () => {
        throw new Refusal(409, "peer_offline", "web-1 is offline, so it cannot ping");
      },
    },
  });

  await user.click(await screen.findByRole("button", { name: "Ping" }));

  expect((await screen.findByRole("alert")).textContent).toContain("web-1 is offline, so it cannot ping");
});

test("a wrong port is not asked about", async () => {
  const { user, router } = renderApp("/networks/net_home/diagnose?from=peer_web-1&to=peer_db-1&protocol=udp", {
    world: { peers },
    handlers: { "peers.diagnose": () => denied },
  });
  const port = await screen.findByRole("textbox", { name: "Port" });

  await user.type(port, "70000{Enter}");
  expect(await screen.findByText("Write a port between 1 and 65535.")).toBeTruthy();
  expect(router.state.location.search).not.toHaveProperty("port");

  await user.clear(port);
  await user.type(port, "53{Enter}");
  expect(router.state.location.search).toMatchObject({ protocol: "udp", port: 53 });
});

test("swapping asks the other way round", async () => {
  const { user, router } = renderApp("/networks/net_home/diagnose?from=peer_web-1&to=peer_db-1", {
    world: { peers },
    handlers: { "peers.diagnose": () => denied },
  });

  await user.click(await screen.findByRole("button", { name: "Swap from and to" }));

  expect(await screen.findByText("db-1 cannot reach web-1")).toBeTruthy();
  expect(router.state.location.search).toEqual({ from: "peer_db-1", to: "peer_web-1" });
});
