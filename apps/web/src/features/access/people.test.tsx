import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { anAccount, aSession } from "../../testing/builders.ts";
import { renderApp } from "../../testing/render-app.tsx";

const NORA = anAccount({ id: "user_nora", login: "nora", role: "viewer" });

test("an invite's link is shown once, in a dialog that says so", async () => {
  const { user, api } = renderApp("/access?view=people", { world: { people: [anAccount()] } });
  await user.click(await screen.findByRole("button", { name: "Invite" }));
  const form = await screen.findByRole("dialog", { name: "Invite somebody" });
  await user.type(within(form).getByRole("textbox", { name: "User name" }), "otto");
  await user.selectOptions(within(form).getByRole("combobox", { name: "Role" }), "operator");

  await user.click(within(form).getByRole("button", { name: "Make the link" }));

  const once = await screen.findByRole("dialog", { name: "Send this link" });
  expect(within(once).getByText("http://192.0.2.1:7400/invite#THESECRET")).toBeTruthy();
  expect(api.calls.find((call) => call.path === "invites.create")?.input).toEqual({ role: "operator", login: "otto" });
  await user.click(within(once).getByRole("button", { name: "I have copied it" }));
  await waitFor(() => expect(screen.queryByText(/THESECRET/)).toBeNull());
  expect(within(await screen.findByRole("table", { name: "Open invites" })).getByText("otto")).toBeTruthy();
});

test("somebody's role is changed, and who waits is approved", async () => {
  const waiting = anAccount({ id: "user_new", login: "newcomer", role: "none", state: "waiting" });
  const { user, world } = renderApp("/access?view=people", { world: { people: [NORA, waiting] } });
  await user.click(await screen.findByRole("button", { name: "Change nora" }));
  const dialog = await screen.findByRole("dialog", { name: "Change nora" });
  await user.selectOptions(within(dialog).getByRole("combobox", { name: "Role" }), "admin");
  await user.click(within(dialog).getByRole("button", { name: "Save" }));
  await waitFor(() => expect(world.people[0]?.role).toBe("admin"));

  await user.click(await screen.findByRole("button", { name: "Change newcomer" }));
  const other = await screen.findByRole("dialog", { name: "Change newcomer" });
  await user.click(within(other).getByRole("button", { name: "Approve" }));

  await waitFor(() => expect(world.people[1]?.state).toBe("active"));
});

test("removing somebody asks first, and says what stays", async () => {
  const { user, world } = renderApp("/access?view=people", { world: { people: [NORA] } });
  await user.click(await screen.findByRole("button", { name: "Change nora" }));
  await user.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Remove" }));
  const question = await screen.findByRole("alertdialog", { name: "Remove nora" });
  expect(question.textContent).toContain("stay");

  await user.click(within(question).getByRole("button", { name: "Remove nora" }));

  await waitFor(() => expect(world.people).toEqual([]));
});

test("the second factor is switched on with a QR code, a code, and recovery codes that are shown once", async () => {
  const { user, world } = renderApp("/access?view=account");
  await user.click(await screen.findByRole("button", { name: "Turn second factor on" }));
  const dialog = await screen.findByRole("dialog", { name: "Turn second factor on" });
  await user.type(within(dialog).getByLabelText("Your password"), "correct horse battery");
  await user.click(within(dialog).getByRole("button", { name: "Next" }));

  expect(await within(dialog).findByRole("img", { name: /QR code/ })).toBeTruthy();
  expect(within(dialog).getByText("JBSWY3DPEHPK3PXP")).toBeTruthy();
  await user.type(within(dialog).getByRole("textbox", { name: "Code" }), "000000");
  await user.click(within(dialog).getByRole("button", { name: "Turn second factor on" }));
  expect((await within(dialog).findByRole("alert")).textContent).toContain("The code is wrong");
  await user.clear(within(dialog).getByRole("textbox", { name: "Code" }));
  await user.type(within(dialog).getByRole("textbox", { name: "Code" }), "123456");
  await user.click(within(dialog).getByRole("button", { name: "Turn second factor on" }));

  expect(await within(dialog).findByText("aaaa-bbbb-cccc-dddd")).toBeTruthy();
  await user.click(within(dialog).getByRole("button", { name: "I have kept them" }));
  expect(await screen.findByText("10 recovery codes left")).toBeTruthy();
  expect(screen.queryByText("aaaa-bbbb-cccc-dddd")).toBeNull();
  expect(world.secondFactor).toBe("on");
});

test("other browsers are signed out one by one or all at once; this one has no such button", async () => {
  const others = ["ses_2", "ses_3", "ses_4"].map((id) => aSession({ id, isCurrent: false, userAgent: `Phone ${id}` }));
  const { user, world } = renderApp("/access?view=account", { world: { sessions: [aSession(), ...others] } });
  const table = await screen.findByRole("table", { name: "Your browsers" });
  const [first] = within(table).getAllByRole("button", { name: "Sign out" });
  expect(within(table).getAllByRole("button", { name: "Sign out" })).toHaveLength(3);

  if (first) await user.click(first);
  await waitFor(() => expect(world.sessions).toHaveLength(3));
  await user.click(screen.getByRole("button", { name: "Sign out all others" }));

  await waitFor(() => expect(world.sessions).toEqual([aSession()]));
});

test("SEC-48 a name that looks like markup is text, in the table and in dialogs", async () => {
  const login = `<img src=x onerror="document.title='owned'">`;
  const { user } = renderApp("/access?view=people", { world: { people: [anAccount({ id: "user_x", login })] } });

  await user.click(await screen.findByRole("button", { name: `Change ${login}` }));

  expect(await screen.findByRole("dialog", { name: `Change ${login}` })).toBeTruthy();
  expect(document.querySelector('img[src="x"]')).toBeNull();
  expect(document.title).not.toBe("owned");
});
