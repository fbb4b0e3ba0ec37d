import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { Refusal } from "../../testing/in-memory-link.ts";
import { renderApp } from "../../testing/render-app.tsx";

const FRESH = { ownerExists: false, signedIn: false, networks: [] };

test("a new server opens with the owner form, whatever was asked for", async () => {
  const { router } = renderApp("/networks/net_home/peers", { world: FRESH });

  expect(await screen.findByRole("heading", { name: "Welcome" })).toBeTruthy();
  expect(router.state.location.pathname).toBe("/setup");
  expect(document.title).toBe("Welcome · weft");
});

test("F-F12 three fields create owner and network, and lead to the add-host flow", async () => {
  const { user, api, router } = renderApp("/setup?setup=TOKEN9", { world: FRESH });
  await user.type(await screen.findByRole("textbox", { name: "User name" }), "ada");
  await user.type(screen.getByLabelText("Password"), "plum tractor 94 lake");

  await user.click(screen.getByRole("button", { name: "Create owner and network" }));

  expect(await screen.findByRole("heading", { name: "Add your first two hosts" })).toBeTruthy();
  expect(router.state.location.pathname).toBe("/networks/net_home/peers");
  expect(api.calls.find((call) => call.path === "setup.createOwner")?.input).toEqual({
    login: "ada",
    password: "plum tractor 94 lake",
    networkName: "home",
    setupToken: "TOKEN9",
  });
});

test("the strength of the password is told in words, and it can be shown", async () => {
  const { user } = renderApp("/setup", { world: FRESH });
  const password = await screen.findByLabelText("Password");

  await user.type(password, "abc");
  expect(screen.getByText("7 characters more")).toBeTruthy();
  await user.type(password, " plum tractor 94");
  expect(screen.getByRole("meter", { name: "Password strength" }).getAttribute("aria-valuetext")).toBe("Strong");

  expect(password.getAttribute("type")).toBe("password");
  await user.click(screen.getByRole("button", { name: "Show password" }));
  expect(password.getAttribute("type")).toBe("text");
});

test("a server that wants a setup token asks for it when the address has none", async () => {
  renderApp("/setup", {
    world: FRESH,
    handlers: { "setup.status": () => ({ ownerExists: false, tokenRequired: true }) },
  });

  expect(await screen.findByRole("textbox", { name: "Setup token" })).toBeTruthy();
});

test("UI-9 a refusal shows sentence, code and request id", async () => {
  const refuse = (): never => {
    throw new Refusal(403, "setup_token_wrong", "The setup token does not match.");
  };
  const { user } = renderApp("/setup", { world: FRESH, handlers: { "setup.createOwner": refuse } });
  await user.type(await screen.findByRole("textbox", { name: "User name" }), "ada");
  await user.type(screen.getByLabelText("Password"), "plum tractor 94 lake");

  await user.click(screen.getByRole("button", { name: "Create owner and network" }));

  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("The setup token does not match.");
  expect(alert.textContent).toContain("setup_token_wrong");
  expect(alert.textContent).toContain("req_test");
});

test("the page closes for good after the first owner", async () => {
  const { router } = renderApp("/setup", { world: { signedIn: false } });

  expect(await screen.findByRole("heading", { name: "Sign in" })).toBeTruthy();
  expect(router.state.location.pathname).toBe("/login");
});
