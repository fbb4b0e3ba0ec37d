import { screen, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { combineKey, makeClientKeys, makePad } from "../../format/client-keys.ts";
import { aPeer } from "../../testing/builders.ts";
import { renderApp } from "../../testing/render-app.tsx";

afterEach(() => void vi.unstubAllGlobals());

const CONFIG = {
  name: "phone",
  addresses: ["100.80.0.9/32"],
  mtu: 1_420,
  gatewayPublicKey: "rMwYC7ZxG5vQpQ2nJ0oQb7yC0pXk1n0m6uJ7p4h2k1E=",
  endpoints: ["192.0.2.7:51820"],
  allowedIps: ["100.80.0.0/16"],
  keepaliveSeconds: 25,
};

test("AP-86 the key pair of a client is made in the browser, and only the public half goes to the server", async () => {
  const gateway = aPeer({ name: "gate-1", endpoints: [{ address: "192.0.2.7:51820", source: "interface" }] });
  const app = renderApp("/networks/net_home/peers", {
    world: { peers: [gateway] },
    handlers: {
      "clients.create": () => aPeer({ name: "phone", kind: "client" }),
      "clients.config": () => CONFIG,
      "clients.createLink": () => ({
        peerId: "peer_phone",
        link: "http://192.0.2.1:7400/client#SECRET",
        expiresAt: "",
      }),
    },
  });
  await app.user.click(await screen.findByRole("button", { name: "Add client" }));
  await app.user.type(await screen.findByRole("textbox", { name: /Name/ }), "phone");
  const dialog = screen.getByRole("dialog");
  await app.user.click(within(dialog).getByRole("button", { name: "Add client" }));

  await screen.findByRole("img", { name: "Configuration of phone as a QR code" });
  const file = decodeURIComponent(screen.getByRole("link", { name: "Download file" }).getAttribute("href") ?? "");
  const privateKey = /PrivateKey = (.+)/.exec(file)?.[1] ?? "";
  expect(privateKey).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  expect(file).toContain("Endpoint = 192.0.2.7:51820");
  await app.user.click(screen.getByRole("button", { name: "Make a one-time link" }));
  const link = (await screen.findByText(/SECRET\./)).textContent ?? "";

  const sent = JSON.stringify(app.api.calls);
  expect(app.api.calls.find(({ path }) => path === "clients.create")?.input).toMatchObject({
    gatewayPeerId: gateway.id,
  });
  expect(sent).not.toContain(privateKey);
  const half = link.split(".").at(-1) ?? "";
  expect(half).not.toBe(privateKey);
  expect(sent).not.toContain(half);
  const asked = app.api.calls.find(({ path }) => path === "clients.createLink")?.input;
  expect(asked).toEqual({ peerId: "peer_phone", pad: combineKey(half, privateKey) });
});

test("F-A17 a link is spent by a press of the button, not by opening it, and both halves make the key", async () => {
  const keys = await makeClientKeys();
  const pad = makePad();
  const half = combineKey(keys?.privateKey ?? "", pad) ?? "";
  const app = renderApp(`/client#SECRET.${half}`, {
    handlers: { "clients.redeemLink": () => ({ pad, config: CONFIG }) },
  });
  const button = await screen.findByRole("button", { name: "Show configuration" });
  expect(app.api.calls.some(({ path }) => path === "clients.redeemLink")).toBe(false);

  await app.user.click(button);
  const file = decodeURIComponent(
    (await screen.findByRole("link", { name: "Download file" })).getAttribute("href") ?? "",
  );
  expect(file).toContain(`PrivateKey = ${keys?.privateKey ?? "none"}`);
  expect(app.api.calls.find(({ path }) => path === "clients.redeemLink")?.input).toEqual({ secret: "SECRET" });
});

test("AP-86 a page without the browser's cryptography says what to do, and sends nothing", async () => {
  vi.stubGlobal("crypto", {});
  const gateway = aPeer({ name: "gate-1", endpoints: [{ address: "192.0.2.7:51820", source: "interface" }] });
  const app = renderApp("/networks/net_home/peers", { world: { peers: [gateway] } });
  await app.user.click(await screen.findByRole("button", { name: "Add client" }));
  await app.user.type(await screen.findByRole("textbox", { name: /Name/ }), "phone");
  await app.user.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Add client" }));

  expect((await screen.findByRole("alert")).textContent).toContain("HTTPS");
  expect(app.api.calls.some(({ path }) => path === "clients.create")).toBe(false);
});
