import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { aRule } from "../../testing/builders.ts";
import { renderApp } from "../../testing/render-app.tsx";

const PATH = "/networks/net_home/policy";

test("the rule all ↔ all is visible, and so is the denial after it", async () => {
  renderApp(PATH, { world: { rules: [aRule()] } });

  const table = await screen.findByRole("table", { name: "Rules" });

  expect(within(table).getByText("allow")).toBeTruthy();
  expect(within(table).getByText("everything else")).toBeTruthy();
  expect(within(table).getByText("deny")).toBeTruthy();
});

test("UI-7 the last rule goes only after a warning that says what stops", async () => {
  const { user, world } = renderApp(PATH, { world: { rules: [aRule()] } });
  await user.click(await screen.findByRole("button", { name: "Delete rule all ↔ all" }));
  const dialog = await screen.findByRole("alertdialog");
  expect(dialog.textContent).toContain("This is the last rule.");

  await user.type(within(dialog).getByRole("textbox"), "deny everything");
  await user.click(within(dialog).getByRole("button", { name: "Delete rule all ↔ all" }));

  expect(await screen.findByText("No rule: nothing is allowed")).toBeTruthy();
  expect(world.rules).toEqual([]);
});

test("a rule that is not the last one needs no typing", async () => {
  const { user, world } = renderApp(PATH, { world: { rules: [aRule({ id: "pol_a" }), aRule({ id: "pol_b" })] } });
  await user.click((await screen.findAllByRole("button", { name: "Delete rule all ↔ all" })).at(1)!);
  const dialog = await screen.findByRole("alertdialog");
  expect(within(dialog).queryByRole("textbox")).toBeNull();

  await user.click(within(dialog).getByRole("button", { name: "Delete rule all ↔ all" }));

  await screen.findByText(/The rule was deleted/);
  expect(world.rules.map((rule) => rule.id)).toEqual(["pol_a"]);
});

test("the rule can be added again", async () => {
  const { user, world } = renderApp(PATH);

  await user.click(await screen.findByRole("button", { name: "Allow all ↔ all" }));

  expect(await screen.findByRole("table", { name: "Rules" })).toBeTruthy();
  expect(world.rules).toHaveLength(1);
});
