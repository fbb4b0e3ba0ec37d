import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { aGroup, aPeer, aRoute } from "../../testing/builders.ts";
import { Refusal } from "../../testing/in-memory-link.ts";
import { renderApp } from "../../testing/render-app.tsx";

const EXITS = "/networks/net_home/routes?view=exits";
const APPROVERS = "/networks/net_home/routes?view=approvers";
const exitRoute = aRoute({ id: "rt_exit", peerId: "peer_exit-1", prefix: "0.0.0.0/0", kind: "exit" });
const throughExit = { peerId: "peer_exit-1", lan: "reachable", lost: "blocked" } as const;

test("each peer with an exit node tells how its traffic leaves now", async () => {
  renderApp(EXITS, {
    world: {
      peers: [
        aPeer({ name: "exit-1" }),
        aPeer({ name: "down-1", presence: "offline" }),
        aPeer({ name: "a-fine", exit: throughExit }),
        aPeer({ name: "b-lost", exit: throughExit, problems: ["exit: the chosen exit node was removed, so …"] }),
        aPeer({
          name: "c-direct",
          exit: { ...throughExit, lost: "direct" },
          problems: ["exit: exit-1 is no approved exit node any more"],
        }),
        aPeer({ name: "d-doubt", exit: { ...throughExit, peerId: "peer_down-1" } }),
        aPeer({ name: "e-away", exit: throughExit, presence: "offline" }),
        aPeer({ name: "f-own" }),
      ],
      routes: [exitRoute, aRoute({ ...exitRoute, id: "rt_six", prefix: "::/0", state: "pending", active: false })],
    },
  });

  const table = await screen.findByRole("table", { name: "Peers with an exit node" });
  const states = within(table)
    .getAllByRole("row")
    .slice(1)
    .map((row) => row.querySelector("td:nth-child(3)")?.textContent);
  expect(states).toEqual([
    "leaves through exit-1",
    "blocked because the exit node is lostthe chosen exit node was removed, so …",
    "goes past the tunnel because the exit node is lostexit-1 is no approved exit node any more",
    "down-1 is offline: blocked unless its tunnel still answers",
    "the peer is not connected",
  ]);
  const nodes = await screen.findByRole("table", { name: "Exit nodes" });
  expect(within(nodes).getByText("IPv4")).toBeTruthy();
  expect(within(nodes).getByText("IPv6 waits for approval")).toBeTruthy();
});

test("an exit node is chosen for all peers of a group; who is refused is named, the others are done", async () => {
  const members = ["one", "two", "exit-1"].map((name) => aPeer({ name, groupIds: ["grp_servers"] }));
  const asked: unknown[] = [];
  const { user } = renderApp(EXITS, {
    world: { peers: [...members, aPeer({ name: "other" })], groups: [aGroup()], routes: [exitRoute] },
    handlers: {
      "routes.chooseExit": (input) => {
        asked.push(input);
        if (input.peerId === "peer_two") throw new Refusal(409, "version_mismatch", "changed meanwhile");
        return aPeer({ name: "one" });
      },
    },
  });
  await user.click(await screen.findByRole("button", { name: "Choose exit node" }));
  const dialog = await screen.findByRole("dialog", { name: "Choose an exit node" });
  await user.click(within(dialog).getByRole("radio", { name: "All peers of a group" }));
  await user.selectOptions(await within(dialog).findByRole("combobox", { name: "Group" }), "servers");
  expect(within(dialog).getByText(/The group has 2 peers now/)).toBeTruthy();
  await user.selectOptions(
    within(dialog).getByRole("combobox", { name: "When the exit node does not answer" }),
    "Use the host's own way",
  );
  expect(within(dialog).getByText(/leaves under the host's own address/)).toBeTruthy();
  await user.click(within(dialog).getByRole("button", { name: "Choose" }));

  expect((await within(dialog).findByRole("alert")).textContent).toContain("changed meanwhile");
  expect(within(dialog).getByText("two")).toBeTruthy();
  expect(screen.getByText("1 of 2 peers were refused; the others are done.")).toBeTruthy();
  expect(asked).toEqual(
    ["peer_one", "peer_two"].map((peerId) => ({ peerId, exitPeerId: "peer_exit-1", lan: "reachable", lost: "direct" })),
  );
});

test("a peer gets its own way again", async () => {
  const { user, world } = renderApp(EXITS, {
    world: { peers: [aPeer({ name: "exit-1" }), aPeer({ name: "web-1", exit: throughExit })], routes: [exitRoute] },
  });
  await user.click(await screen.findByRole("button", { name: "Change the exit node of web-1" }));
  const dialog = await screen.findByRole("dialog");
  await user.selectOptions(within(dialog).getByRole("combobox", { name: "Exit node" }), "None: their own way");
  await user.click(within(dialog).getByRole("button", { name: "Choose" }));

  expect(await screen.findByText("The exit node of 1 peer was set. It is applying it.")).toBeTruthy();
  expect(world.peers[1]?.exit).toBeNull();
});

test("an approver is added for a group, with a warning for everything, and removed again", async () => {
  const { user, world } = renderApp(APPROVERS, { world: { groups: [aGroup()] } });
  await user.click(await screen.findByRole("button", { name: "Add approver" }));
  const dialog = await screen.findByRole("dialog", { name: "Add an approver" });
  await within(dialog).findByRole("combobox", { name: "Group" });
  const range = within(dialog).getByRole("textbox", { name: "Range" });
  await user.type(range, "::/0");
  expect(within(dialog).getByText(/may then make itself an exit node/)).toBeTruthy();
  await user.clear(range);
  await user.type(range, " 10.0.0.0/8 ");
  await user.click(within(dialog).getByRole("button", { name: "Add approver" }));
  await waitFor(() => expect(world.approvers).toMatchObject([{ groupId: "grp_servers", prefix: "10.0.0.0/8" }]));

  const label = { name: "Remove the approver of 10.0.0.0/8 for servers" };
  await user.click(await screen.findByRole("button", label));
  const question = await screen.findByRole("alertdialog", label);
  expect(question.textContent).toContain("What it approved stays approved");
  await user.click(within(question).getByRole("button", label));

  await waitFor(() => expect(world.approvers).toEqual([]));
  expect(await screen.findByText("Every new route waits until an admin approves it.")).toBeTruthy();
});

test("an operator chooses exit nodes, and does not change approvers", async () => {
  const { user } = renderApp(EXITS, {
    world: { role: "operator", peers: [aPeer({ name: "exit-1" })], routes: [exitRoute] },
  });
  expect(await screen.findByRole("button", { name: "Choose exit node" })).toBeTruthy();

  await user.click(screen.getByRole("radio", { name: "Approvers" }));

  expect(await screen.findByText("No approver")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Add approver" })).toBeNull();
});
