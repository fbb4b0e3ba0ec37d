import { act, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { aNetwork, aPeer } from "../testing/builders.ts";
import { Refusal } from "../testing/in-memory-link.ts";
import { type RenderedApp, renderApp } from "../testing/render-app.tsx";
import { chooseTheme } from "./theme.ts";

afterEach(() => chooseTheme("system"));

const PATH = "/networks/net_home/peers";
const footer = (): HTMLElement => screen.getByRole("contentinfo");

async function online(app: RenderedApp): Promise<void> {
  await waitFor(() => expect(app.api.listeners("live.network")).toHaveLength(1));
  act(() =>
    app.api
      .listeners("live.network")
      .at(0)
      ?.send({ kind: "peers", peers: [aPeer()] }),
  );
}

test("UI-8 the footer shows the running version and that the page is live", async () => {
  const app = renderApp(PATH, { world: { peers: [aPeer()] } });
  await online(app);

  expect(await within(footer()).findByText("weft 0.1.0")).toBeTruthy();
  expect(await within(footer()).findByText("live")).toBeTruthy();
});

test("a lost stream is told, the rows stay, and the page heals by itself", async () => {
  const app = renderApp(PATH, { world: { peers: [aPeer()] } });
  await online(app);
  await within(footer()).findByText("live");

  act(() => app.api.listeners("live.network").at(0)?.fail());
  expect(await within(footer()).findByText(/^live data paused/)).toBeTruthy();
  expect(screen.getByRole("link", { name: "web-1" })).toBeTruthy();

  await online(app);
  expect(await within(footer()).findByText("live")).toBeTruthy();
});

test("the page of a network that was removed elsewhere says so and listens no more", async () => {
  const app = renderApp(PATH, { world: { peers: [aPeer()] } });
  await online(app);

  app.world.networks = [];
  act(() => app.api.listeners("live.network").at(0)?.end());

  expect(await screen.findByText("net_home does not exist")).toBeTruthy();
  await waitFor(() => expect(within(footer()).queryByText(/^live data paused/)).toBeNull());
  expect(app.api.listeners("live.network")).toHaveLength(0);
});

test("a hidden tab does not listen", async () => {
  const app = renderApp(PATH, { world: { peers: [aPeer()] } });
  await online(app);
  const show = (state: "hidden" | "visible"): void => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    act(() => void document.dispatchEvent(new Event("visibilitychange")));
  };

  show("hidden");
  expect(app.api.listeners("live.network")).toHaveLength(0);
  show("visible");
  await waitFor(() => expect(app.api.listeners("live.network")).toHaveLength(1));
});

test("a session that ended elsewhere leads to the login when the stream breaks", async () => {
  const app = renderApp(PATH, { world: { peers: [aPeer()] } });
  await online(app);
  app.world.signedIn = false;

  act(() => app.api.listeners("live.network").at(0)?.fail());

  expect(await screen.findByRole("heading", { name: "Sign in" })).toBeTruthy();
  expect(app.router.state.location.search).toEqual({ next: PATH });
});

test("UI-13 a database in trouble is a banner that says what keeps working", async () => {
  renderApp(PATH, {
    world: { peers: [aPeer()] },
    handlers: {
      "instance.get": () => ({
        version: "0.1.0",
        startedAt: "",
        serverKey: "",
        publicUrl: "",
        update: { state: "off", release: null, checkedAt: null, failure: null },
        database: { kind: "external", ok: false },
      }),
    },
  });

  expect((await screen.findByRole("alert")).textContent).toContain("The mesh keeps working");
});

test("F-F13 UI-15 a theme that was chosen is applied and remembered", async () => {
  const { user } = renderApp(PATH);
  await user.click(await screen.findByRole("button", { name: "Theme: As the system" }));
  await user.click(screen.getByRole("menuitem", { name: "Dark" }));

  expect(document.documentElement.dataset["theme"]).toBe("dark");
  expect(localStorage.getItem("weft.theme")).toBe("dark");
  expect(screen.getByRole("button", { name: "Theme: Dark" })).toBeTruthy();
});

test("the switcher leads to another network, and the start page opens it next time", async () => {
  const world = { networks: [aNetwork(), aNetwork({ id: "net_office", name: "office", peerCount: 3 })] };
  const { user, router } = renderApp("/networks/net_home/policy", { world });
  await user.click(await screen.findByRole("button", { name: "Network home, switch" }));

  await user.click(screen.getByRole("menuitem", { name: "office" }));
  await screen.findByRole("link", { name: "Add hosts" });
  expect(router.state.location.pathname).toBe("/networks/net_office");
  await user.click(screen.getByRole("link", { name: "Policy" }));
  await screen.findByRole("heading", { name: "Policy" });
  await user.click(screen.getByRole("link", { name: "weft, to the start page" }));

  await waitFor(() => expect(router.state.location.pathname).toBe("/networks/net_office"));
});

test("a network is created with the proposed ranges and the visible rule", async () => {
  const { user, api, world } = renderApp("/networks/net_home/policy");
  await user.click(await screen.findByRole("button", { name: "Network home, switch" }));
  await user.click(screen.getByRole("menuitem", { name: "Create network" }));
  const dialog = await screen.findByRole("dialog", { name: "Create network" });
  await within(dialog).findByDisplayValue("100.81.0.0/16");

  await user.type(within(dialog).getByRole("textbox", { name: "Name" }), "office");
  await user.click(within(dialog).getByRole("button", { name: "Create network" }));

  expect(await screen.findByRole("heading", { name: "Add your first two hosts" })).toBeTruthy();
  expect(api.calls.find((call) => call.path === "networks.create")?.input).toEqual({
    name: "office",
    ipv4Range: "100.81.0.0/16",
    ipv6Range: "fd7a:9b2c:12::/48",
  });
  expect(world.rules.map((rule) => rule.networkId)).toEqual(["net_office"]);
});

test("after a navigation the focus is on the new content", async () => {
  const { user } = renderApp(PATH, { world: { peers: [aPeer()] } });

  await user.click(await screen.findByRole("link", { name: "Policy" }));

  await screen.findByRole("heading", { name: "Policy" });
  expect(document.activeElement).toBe(screen.getByRole("main"));
});

test("a sign-out that failed says so and changes nothing", async () => {
  const { user } = renderApp(PATH, {
    world: { peers: [aPeer()] },
    handlers: {
      "sessions.logout": () => {
        throw new Refusal(503, "busy", "The server is busy.");
      },
    },
  });
  await user.click(await screen.findByRole("button", { name: "Signed in as ada" }));

  await user.click(screen.getByRole("menuitem", { name: "Sign out" }));

  expect(await screen.findByText("The server is busy.")).toBeTruthy();
  expect(screen.getByRole("heading", { name: "Peers" })).toBeTruthy();
});

test("signing out leads to the login and forgets what was loaded", async () => {
  const app = renderApp(PATH, { world: { peers: [aPeer()] }, handlers: { "sessions.logout": () => undefined } });
  await app.user.click(await screen.findByRole("button", { name: "Signed in as ada" }));
  app.world.signedIn = false;

  await app.user.click(screen.getByRole("menuitem", { name: "Sign out" }));

  expect(await screen.findByRole("heading", { name: "Sign in" })).toBeTruthy();
  expect(screen.queryByRole("link", { name: "web-1" })).toBeNull();
});

test("an address that leads nowhere says so", async () => {
  renderApp("/nowhere");

  expect(await screen.findByRole("heading", { name: "Nothing here" })).toBeTruthy();
});

const NEWER = {
  state: "available",
  release: { version: "0.9.0", url: "https://example.org/0.9.0", severity: "security", summary: "Fixes <b>it</b>." },
  checkedAt: "2026-01-01T00:00:00Z",
  failure: null,
} as const;

test.each([
  { role: "owner", path: "/networks/net_home" },
  { role: "admin", path: "/networks/net_home/settings" },
] as const)("F-F11 a newer release is a quiet note for an $role on $path", async ({ role, path }) => {
  renderApp(path, { world: { peers: [aPeer()], update: NEWER, role } });

  const note = await screen.findByRole("note");
  expect(note.textContent).toContain("weft 0.9.0 closes a security hole. Fixes <b>it</b>. What is new");
  expect(within(note).getByRole("link").getAttribute("href")).toBe("https://example.org/0.9.0");
  expect(note.textContent).toContain("this server runs 0.1.0");
});

test.each([
  { name: "somebody who can do nothing about it", world: { update: NEWER, role: "operator" } },
  { name: "a server that is up to date", world: { update: { ...NEWER, state: "current", release: null } } },
] as const)("F-F11 there is no note for $name", async ({ world }) => {
  renderApp("/networks/net_home", { world: { peers: [aPeer()], ...world } });

  await screen.findByText("weft 0.1.0");
  expect(screen.queryByRole("note")).toBeNull();
});
