import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { anEnrolmentKey } from "../../testing/builders.ts";
import { renderApp } from "../../testing/render-app.tsx";

const PATH = "/networks/net_home/settings";

test("keys show their use and state; only a valid one can be revoked", async () => {
  const keys = [anEnrolmentKey(), anEnrolmentKey({ id: "key_2", hint: "weft_enr_OLD1", state: "expired" })];
  renderApp(PATH, { world: { keys } });

  const table = await screen.findByRole("table", { name: "Enrolment keys" });

  expect(within(table).getAllByText("1 of 10")).toHaveLength(2);
  expect(within(table).getByRole("button", { name: "Revoke key weft_enr_Ab3d" })).toBeTruthy();
  expect(within(table).queryByRole("button", { name: "Revoke key weft_enr_OLD1" })).toBeNull();
});

test("revoking a key calls for exactly that key", async () => {
  const revoked: string[] = [];
  const { user } = renderApp(PATH, {
    world: { keys: [anEnrolmentKey()] },
    handlers: { "enrolmentKeys.revoke": ({ enrolmentKeyId }) => void revoked.push(enrolmentKeyId) },
  });
  await user.click(await screen.findByRole("button", { name: "Revoke key weft_enr_Ab3d" }));

  await user.click(
    within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Revoke key weft_enr_Ab3d" }),
  );

  expect(await screen.findByText(/Nobody can join with it any more/)).toBeTruthy();
  expect(revoked).toEqual(["key_1"]);
});

test("UI-7 a network is deleted only after its name was typed", async () => {
  const removed: string[] = [];
  const { user, router } = renderApp(PATH, {
    handlers: { "networks.remove": ({ networkId }) => void removed.push(networkId) },
  });
  await user.click(await screen.findByRole("button", { name: "Delete network home" }));
  const dialog = await screen.findByRole("alertdialog");

  await user.type(within(dialog).getByRole("textbox"), "hom{Enter}");
  expect(removed).toEqual([]);
  await user.type(within(dialog).getByRole("textbox"), "e{Enter}");

  await screen.findByText("Network home was deleted.");
  expect(removed).toEqual(["net_home"]);
  expect(router.state.location.pathname).not.toBe(PATH);
});

test("AP-65: flows are recorded after somebody chose how many and for how long, and the form says what is set", async () => {
  const { user } = renderApp(PATH, {});
  const sampling = await screen.findByRole("combobox", { name: "Record" });
  expect(screen.getByRole("button", { name: "Save" }).hasAttribute("disabled")).toBe(true);

  await user.selectOptions(sampling, "One flow of 10");
  await user.selectOptions(screen.getByRole("combobox", { name: "Keep for" }), "1 day");
  await user.click(screen.getByRole("button", { name: "Save" }));

  expect(await screen.findByText("Flows are being recorded. Nodes are told now.")).toBeTruthy();
  expect(screen.getByRole<HTMLSelectElement>("combobox", { name: "Record" }).value).toBe("10");
  expect(screen.getByRole<HTMLSelectElement>("combobox", { name: "Keep for" }).value).toBe("24");
});
