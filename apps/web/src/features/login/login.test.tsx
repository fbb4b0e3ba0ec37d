import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { providerLogin } from "../../api/provider-login.ts";
import { renderApp } from "../../testing/render-app.tsx";
import { loginBounces } from "./login-bounces.ts";

const SIGNED_OUT = { signedIn: false };

async function signIn(user: ReturnType<typeof renderApp>["user"], password: string): Promise<void> {
  await user.type(await screen.findByRole("textbox", { name: "User name" }), "ada");
  await user.type(screen.getByLabelText("Password"), password);
  await user.click(screen.getByRole("button", { name: "Sign in" }));
}

test("a signed-out reader signs in and lands on the page that was asked for", async () => {
  const { user, router } = renderApp("/networks/net_home/policy", { world: SIGNED_OUT });

  await signIn(user, "correct horse battery");

  expect(await screen.findByRole("heading", { name: "Policy" })).toBeTruthy();
  expect(router.state.location.pathname).toBe("/networks/net_home/policy");
});

test("a wrong password is named and nothing is lost", async () => {
  const { user } = renderApp("/login", { world: SIGNED_OUT });

  await signIn(user, "wrong");

  expect((await screen.findByRole("alert")).textContent).toContain("User name or password is wrong.");
  expect(screen.getByRole<HTMLInputElement>("textbox", { name: "User name" }).value).toBe("ada");
});

test("UI-14 CP-80 the second bounce explains itself instead of going round again", async () => {
  loginBounces.count();
  loginBounces.count();

  renderApp("/login", { world: SIGNED_OUT });

  expect(await screen.findByText(/sent back here twice/)).toBeTruthy();
});

test("an account with a second factor is asked for its code after the password, and nothing is typed twice", async () => {
  const { user, router, api } = renderApp("/login", { world: { ...SIGNED_OUT, secondFactor: "on" } });
  await signIn(user, "correct horse battery");

  await user.type(await screen.findByRole("textbox", { name: "Code" }), "000000");
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  expect((await screen.findByRole("alert")).textContent).toContain("The code is wrong");
  await user.clear(screen.getByRole("textbox", { name: "Code" }));
  await user.type(screen.getByRole("textbox", { name: "Code" }), "123456");
  await user.click(screen.getByRole("button", { name: "Sign in" }));

  await waitFor(() => expect(router.state.location.pathname).toContain("/networks"));
  expect(api.calls.filter(({ path }) => path === "sessions.login").at(-1)?.input).toEqual({
    login: "ada",
    password: "correct horse battery",
    code: "123456",
  });
});

test("each provider has a button, and what it begins stays in this tab", async () => {
  const { user } = renderApp("/login", { world: { ...SIGNED_OUT, providers: [{ id: "idp_1", name: "Example ID" }] } });
  const assigned: string[] = [];
  const assign = window.location.assign;
  window.location.assign = (url) => void assigned.push(String(url));

  await user.click(await screen.findByRole("button", { name: "Sign in with Example ID" }));

  await waitFor(() => expect(assigned).toEqual(["https://id.example/authorize?state=s"]));
  window.location.assign = assign;
  expect(providerLogin.take()).toEqual({ loginToken: "SEALED", next: null, invite: null });
  expect(providerLogin.take()).toBeNull();
});

test("SEC-50 back from a provider the reader lands on a page of this dashboard, wherever the tab was told to go", async () => {
  providerLogin.keep({ loginToken: "SEALED", next: "//evil.example/x", invite: null });

  const { router } = renderApp("/login/callback?code=c&state=s", { world: SIGNED_OUT });

  await waitFor(() => expect(router.state.location.pathname).toContain("/networks"));
  expect(router.state.location.href).not.toContain("evil");
});

test("F-D5 back from a provider an account with a second factor is asked for a code; a wrong one may be followed by another", async () => {
  providerLogin.keep({ loginToken: "SEALED", next: null, invite: null });
  const { user, router } = renderApp("/login/callback?code=c&state=s", {
    world: { ...SIGNED_OUT, secondFactor: "on" },
  });
  const field = await screen.findByRole("textbox", { name: "Code" });

  await user.type(field, "000000");
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  expect((await screen.findByRole("alert")).textContent).toContain("The code is wrong");
  await user.clear(field);
  await user.type(field, "123456");
  await user.click(screen.getByRole("button", { name: "Sign in" }));

  await waitFor(() => expect(router.state.location.pathname).toContain("/networks"));
});

test("SEC-10 a callback that this tab did not begin is refused in words, with a way back", async () => {
  renderApp("/login/callback?code=c&state=s", { world: SIGNED_OUT });

  expect((await screen.findByRole("alert")).textContent).toContain("Start again");
  expect(screen.getByRole("link", { name: "Back to the login" })).toBeTruthy();
});

test("an invite makes an account and opens the dashboard; a used one says so", async () => {
  const { user, api, router } = renderApp("/invite#THESECRET", { world: SIGNED_OUT });
  await user.type(await screen.findByRole("textbox", { name: "User name" }), "otto");
  await user.type(screen.getByLabelText("Password"), "a long password");
  await user.click(screen.getByRole("button", { name: "Create account" }));

  await waitFor(() => expect(router.state.location.pathname).toContain("/networks"));
  expect(api.calls.find(({ path }) => path === "invites.accept")?.input).toEqual({
    secret: "THESECRET",
    login: "otto",
    password: "a long password",
  });
});

test("a link that is no good any more says so", async () => {
  renderApp("/invite#OLD", { world: SIGNED_OUT });

  expect((await screen.findByRole("alert")).textContent).toContain("Ask for a new link");
});
