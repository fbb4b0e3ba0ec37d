import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { AuditEvent } from "../../api/types.ts";
import { at } from "../../testing/builders.ts";
import { renderApp } from "../../testing/render-app.tsx";

function anEvent(number: number, change: Partial<AuditEvent> = {}): AuditEvent {
  return {
    id: `evt_${number}`,
    at: at(number * 60),
    action: "peers.update",
    actor: { kind: "user", id: "user_owner", login: "ada" },
    address: "192.0.2.7",
    requestId: `req_${number}`,
    networkId: "net_home",
    objectId: "peer_web-1",
    before: { name: "web-1" },
    after: { name: "web-2" },
    ...change,
  };
}

test("an event shows who did what, and what it changed", async () => {
  const { user } = renderApp("/audit", {
    handlers: {
      "auditEvents.list": () => ({
        items: [
          anEvent(1),
          anEvent(2, { action: "peers.expire", actor: { kind: "server", id: null, login: null }, before: null }),
        ],
        nextCursor: null,
      }),
    },
  });
  const table = await screen.findByRole("table", { name: "Audit events" });
  expect(within(table).getByText("ada")).toBeTruthy();
  expect(within(table).getByText("The server")).toBeTruthy();

  await user.click(within(table).getByRole("button", { name: "Show what peers.update changed" }));

  const dialog = await screen.findByRole("dialog", { name: "What peers.update changed" });
  expect(JSON.parse(within(dialog).getByLabelText("Before", { selector: "pre" }).textContent ?? "")).toEqual({
    name: "web-1",
  });
  expect(JSON.parse(within(dialog).getByLabelText("After", { selector: "pre" }).textContent ?? "")).toEqual({
    name: "web-2",
  });
  expect(within(dialog).getByText("req_1")).toBeTruthy();
});

test("filters are in the address and asked of the server; older events come by page", async () => {
  const { user, router, api } = renderApp("/audit?q=peers", {
    handlers: {
      "auditEvents.list": (input) =>
        input?.cursor === undefined
          ? { items: [anEvent(1)], nextCursor: "older" }
          : { items: [anEvent(2, { action: "networks.create" })], nextCursor: null },
    },
  });
  await user.click(await screen.findByRole("button", { name: "Older events" }));
  expect(await screen.findByText("networks.create")).toBeTruthy();
  expect(screen.getByText("2 events shown")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Older events" })).toBeNull();

  await user.selectOptions(screen.getByRole("combobox", { name: "Network" }), "home");
  await user.selectOptions(screen.getByRole("combobox", { name: "Done by" }), "A token");

  await waitFor(() =>
    expect(router.state.location.search).toEqual({ q: "peers", network: "net_home", actor: "token" }),
  );
  await waitFor(() =>
    expect(api.calls.findLast(({ path }) => path === "auditEvents.list")?.input).toMatchObject({
      q: "peers",
      networkId: "net_home",
      actorKind: "token",
    }),
  );
});

test("an empty answer says that the filters may be the reason", async () => {
  renderApp("/audit?q=nothing-like-it", { handlers: { "auditEvents.list": () => ({ items: [], nextCursor: null }) } });

  expect(await screen.findByText("Nothing that was done fits the search and the filters.")).toBeTruthy();
});
