import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { aFlow, aNetwork, aPeer, aRule } from "../../testing/builders.ts";
import { renderApp } from "../../testing/render-app.tsx";

const peer = aPeer();
const PATH = `/networks/net_home/peers/${peer.id}`;

test("AP-65: where flows are not recorded the peer's page says so and leads to the setting", async () => {
  renderApp(PATH, { world: { peers: [peer] } });

  const link = await screen.findByRole("link", { name: "Record them" });

  expect(link.getAttribute("href")).toBe("/networks/net_home/settings");
  expect(screen.queryByRole("table", { name: "Flows last recorded" })).toBeNull();
});

test("AP-65: flows of a peer are shown with ends, verdict, rule, bytes and drops, denied ones too", async () => {
  const other = aPeer({ id: "peer_db", name: "db-1" });
  const flows = [
    aFlow({ peerId: peer.id, otherPeerId: other.id }),
    aFlow({
      id: "flw_2",
      peerId: peer.id,
      verdict: "deny",
      ruleId: null,
      protocol: 17,
      destination: "fd00::2",
      destinationPort: 53,
      drops: "7",
      state: "ended",
    }),
  ];
  const networks = [aNetwork({ flowSampling: 20 })];
  renderApp(PATH, { world: { networks, peers: [peer, other], rules: [aRule({ name: "web" })], flows } });

  const recent = await screen.findByRole("table", { name: "Flows last recorded" });
  const top = await screen.findByRole("table", { name: "Flows going on now" });

  expect(within(top).getAllByRole("row")).toHaveLength(2);
  const [, allowed, denied] = within(recent).getAllByRole("row");
  expect(allowed?.textContent).toMatch(/100\.80\.0\.1:40000.*100\.80\.0\.2:443.*TCP.*to db-1.*allowed/);
  expect(await within(recent).findByText("web")).toBeTruthy();
  expect(denied?.textContent).toMatch(/\[fd00::2\]:53.*UDP.*denied.*no rule matched.*7/);
  expect(screen.getByText(/One flow of 20 is recorded/)).toBeTruthy();
});
