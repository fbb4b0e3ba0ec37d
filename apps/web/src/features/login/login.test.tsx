import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
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

test("UI-14 the second bounce explains itself instead of going round again", async () => {
  loginBounces.count();
  loginBounces.count();

  renderApp("/login", { world: SIGNED_OUT });

  expect(await screen.findByText(/sent back here twice/)).toBeTruthy();
});
