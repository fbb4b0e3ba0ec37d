import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { aToken } from "../../testing/builders.ts";
import { renderApp } from "../../testing/render-app.tsx";
import { NO_SCOPES, scopesOf } from "./token-scopes.ts";

test("UI-6 a new token is shown once, in a dialog that says so", async () => {
  const { user, api } = renderApp("/access");
  await user.click(await screen.findByRole("button", { name: "Create token" }));
  const form = await screen.findByRole("dialog", { name: "Create API token" });
  await user.type(within(form).getByRole("textbox", { name: "Name" }), "terraform");
  expect(within(form).getByRole<HTMLButtonElement>("button", { name: "Create token" }).disabled).toBe(true);
  await user.selectOptions(within(form).getByRole("combobox", { name: "Peers" }), "read and write");

  await user.click(within(form).getByRole("button", { name: "Create token" }));

  const once = await screen.findByRole("dialog", { name: "Copy the token now" });
  expect(within(once).getByText("weft_pat_THESECRET")).toBeTruthy();
  expect(api.calls.find((call) => call.path === "tokens.create")?.input).toEqual({
    name: "terraform",
    scopes: ["peers:write"],
    expiresInSeconds: 2_592_000,
  });

  await user.click(within(once).getByRole("button", { name: "I have copied it" }));
  await waitFor(() => expect(screen.queryByText("weft_pat_THESECRET")).toBeNull());
  expect(within(screen.getByRole("table", { name: "API tokens" })).getByText("terraform")).toBeTruthy();
});

test("a token is revoked after a question", async () => {
  const { user, world } = renderApp("/access", { world: { tokens: [aToken()] } });
  await user.click(await screen.findByRole("button", { name: "Revoke token backup script" }));

  await user.click(
    within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Revoke token backup script" }),
  );

  expect(await screen.findByText("No API token yet")).toBeTruthy();
  expect(world.tokens).toEqual([]);
});

test("levels become scopes, and nothing becomes none", () => {
  expect(scopesOf({ ...NO_SCOPES, peers: "write", settings: "read" })).toEqual(["peers:write", "settings:read"]);
  expect(scopesOf(NO_SCOPES)).toEqual([]);
});
