import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Expiration } from "../../api/types.ts";
import { NOW } from "../../testing/builders.ts";
import { renderApp } from "../../testing/render-app.tsx";

function ending(name: string, days: number, change: Partial<Expiration> = {}): Expiration {
  const expiresAt = new Date(NOW + days * 86_400_000).toISOString();
  return { id: `peer_${name}`, kind: "peer", name, networkId: "net_home", expiresAt, warning: "none", ...change };
}

test("UI-20 one page lists what expires with a warning at 30, 7 and 1 days, and leads to where it is prolonged", async () => {
  const items = [
    ending("web-1", 0.5, { warning: "day" }),
    ending("ci", 6, { kind: "enrolmentKey", id: "key_1", warning: "week" }),
    ending("backup", 29, { kind: "token", id: "tok_1", networkId: null, warning: "month" }),
    ending("ada", 31, { kind: "invite", id: "inv_1", networkId: null }),
  ];
  renderApp("/expirations", { handlers: { "expirations.list": () => ({ items, nextCursor: null }) } });
  const table = await screen.findByRole("table", { name: "What expires" });
  const rows = within(table).getAllByRole("row").slice(1);

  expect(
    rows.map((row) =>
      within(row)
        .getAllByRole("cell")
        .slice(0, 3)
        .map((cell) => cell.textContent),
    ),
  ).toEqual([
    ["web-1", "Membership", "less than a day"],
    ["ci", "Enrolment key", "less than 7 days"],
    ["backup", "Token", "less than 30 days"],
    ["ada", "Invite", "30 days or more"],
  ]);
  const looks = rows.map((row) => row.querySelector(".status")?.className.replace("status status-", ""));
  expect(looks).toEqual(["bad", "warn", "busy", "idle"]);
  const links = within(table).getAllByRole("link");
  expect(links.map((link) => link.getAttribute("href"))).toEqual([
    "/networks/net_home/peers/peer_web-1",
    "/networks/net_home/settings",
    "/access",
    "/access",
  ]);
});

test("the kind is in the address and asked of the server; later ones come by page", async () => {
  const { user, router, api } = renderApp("/expirations", {
    handlers: {
      "expirations.list": (input) =>
        input?.cursor === undefined
          ? { items: [ending("web-1", 1)], nextCursor: "later" }
          : { items: [ending("web-2", 2)], nextCursor: null },
    },
  });
  await user.click(await screen.findByRole("button", { name: "Later ones" }));
  expect(await screen.findByText("2 entries shown")).toBeTruthy();

  await user.selectOptions(screen.getByRole("combobox", { name: "What" }), "Token");

  await waitFor(() => expect(router.state.location.search).toEqual({ kind: "token" }));
  await waitFor(() =>
    expect(api.calls.findLast(({ path }) => path === "expirations.list")?.input).toMatchObject({ kind: "token" }),
  );
});
