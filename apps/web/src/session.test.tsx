import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { aNetwork } from "./testing/builders.ts";
import { Refusal } from "./testing/in-memory-link.ts";
import { renderApp } from "./testing/render-app.tsx";

test("the start page of a network without peers is the add-host flow", async () => {
  const { router } = renderApp("/");

  expect(await screen.findByRole("heading", { name: "Add your first two hosts" })).toBeTruthy();
  expect(router.state.location.pathname).toBe("/networks/net_home/peers");
});

test("the start page of a network with peers is its overview", async () => {
  const { router } = renderApp("/", { world: { networks: [aNetwork({ peerCount: 2 })] } });

  expect(await screen.findByRole("heading", { name: "Overview" })).toBeTruthy();
  expect(router.state.location.pathname).toBe("/networks/net_home");
});

test("without any network the start page offers to create one", async () => {
  renderApp("/", { world: { networks: [] } });

  expect(await screen.findByText("No network exists")).toBeTruthy();
  expect(screen.getAllByRole("button", { name: "Create network" })).toHaveLength(1);
});

test("a call that is refused for want of a session leads to the login, and back afterwards", async () => {
  const { router, user, world } = renderApp("/networks/net_home/policy");
  await screen.findByRole("button", { name: "Allow all ↔ all" });
  world.signedIn = false;

  await user.click(screen.getByRole("link", { name: "Settings" }));

  expect(await screen.findByRole("heading", { name: "Sign in" })).toBeTruthy();
  expect(router.state.location.search).toEqual({ next: "/networks/net_home/settings" });
});

test("a server that cannot answer at the start is an error with a retry, not a login", async () => {
  let state: "broken" | "well" = "broken";
  const { user } = renderApp("/networks/net_home/policy", {
    handlers: {
      "sessions.current": () => {
        if (state === "broken") throw new Refusal(503, "starting", "The server is starting.");
        return { user: { id: "user_owner", login: "ada", role: "owner" } };
      },
    },
  });
  expect((await screen.findByRole("alert")).textContent).toContain("The server is starting.");
  state = "well";

  await user.click(screen.getByRole("button", { name: "Try again" }));

  expect(await screen.findByRole("heading", { name: "Policy" })).toBeTruthy();
});
