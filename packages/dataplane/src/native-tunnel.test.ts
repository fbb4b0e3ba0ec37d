import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createNamespace, type Namespace, whyNoNamespaces } from "./interop/namespace.ts";
import { nativeAddon } from "./native.ts";
import { interfaceAddresses, ping, removeInterface } from "./native-interface.ts";

const BUILT = new URL("../dist/index.js", import.meta.url);
const addon = nativeAddon();
const noAddon = addon.ok ? null : addon.error.message;
const noNamespaces = noAddon ?? whyNoNamespaces([]) ?? (existsSync(BUILT) ? null : "packages/dataplane is not built");

describe.skipIf(noAddon !== null)(`this machine's interfaces${noAddon ? ` (skipped: ${noAddon})` : ""}`, () => {
  test("include the loopback interface with its address", () => {
    const interfaces = interfaceAddresses();

    expect(interfaces.ok && interfaces.value.find(({ name }) => name === "lo")?.addresses).toContain("127.0.0.1/8");
  });

  test("removing one that does not exist is no error", () => {
    expect(removeInterface("weft-no-such")).toEqual({ ok: true, value: undefined });
  });

  test("a ping to oneself takes some time, a ping to nowhere is an error", async ({ skip }) => {
    const here = await ping("127.0.0.1", 30_000);
    const nowhere = await ping("no address", 1_000);

    // Kernels give an ordinary user no ping socket unless net.ipv4.ping_group_range says so.
    if (!here.ok && here.error.message.startsWith("ping is not permitted")) skip(here.error.message);
    expect(here.ok && here.value).toBeGreaterThan(0);
    expect(nowhere.ok).toBe(false);
  });
});

describe.skipIf(noNamespaces !== null)(`opening a tunnel${noNamespaces ? ` (skipped: ${noNamespaces})` : ""}`, () => {
  let namespace: Namespace;
  beforeAll(() => {
    namespace = createNamespace(`weft-t1-${process.pid}-o`);
  });
  afterAll(() => namespace.remove());

  /** Runs a module inside the namespace; the last expression of `body` is printed as JSON. */
  const inside = async (body: string): Promise<unknown> => {
    const program = `
      import { createTunnel, generateKeyPair } from ${JSON.stringify(BUILT.href)};
      import { Secret } from ${JSON.stringify(new URL("../../protocol/dist/index.js", import.meta.url).href)};
      const open = (change) => createTunnel({ interfaceName: "weft-o", listenPort: 0, privateKey: generateKeyPair().privateKey,
        addresses: ["100.64.0.1/32", "fd00::1/128"], routes: ["100.64.0.0/16", "fd00::/64"], mtu: 1400, engine: { shards: 1 },
        onEvent() {}, ...change });
      const result = await (async () => { ${body} })();
      process.stdout.write(JSON.stringify(result));
      process.exit(0);`;
    return JSON.parse(await namespace.runBeside(process.execPath, "--input-type=module", "-e", program));
  };

  test("sets addresses, routes and MTU, and takes everything away again", async () => {
    const result = await inside(`
      const { execFileSync } = await import("node:child_process");
      const ip = (...args) => execFileSync("ip", args, { encoding: "utf8" });
      const tunnel = open({}).value;
      const link = JSON.parse(ip("-j", "address", "show", "weft-o"))[0];
      const routes = [ip("route"), ip("-6", "route")].join("");
      tunnel.close();
      return { mtu: link.mtu, addresses: link.addr_info.map((a) => a.local), routes, left: ip("link"), status: tunnel.status().peerCount };`);

    expect(result).toMatchObject({ mtu: 1_400, status: 0 });
    expect(result).toHaveProperty("addresses", expect.arrayContaining(["100.64.0.1", "fd00::1"]));
    expect(result).toHaveProperty(
      "routes",
      expect.stringMatching(/100\.64\.0\.0\/16 dev weft-o[^]*fd00::\/64 dev weft-o/),
    );
    expect(result).toHaveProperty("left", expect.not.stringContaining("weft-o"));
  });

  test("re-addresses live and gives the MTU of the new map to the interface", async () => {
    const result = await inside(`
      const { execFileSync } = await import("node:child_process");
      const tunnel = open({}).value;
      const changed = tunnel.replaceSelf({ addresses: ["100.64.0.9/32"], routes: ["100.64.0.0/16"], mtu: 1380 });
      const link = JSON.parse(execFileSync("ip", ["-j", "address", "show", "weft-o"], { encoding: "utf8" }))[0];
      const routes = execFileSync("ip", ["route"], { encoding: "utf8" });
      tunnel.close();
      return { changed, mtu: link.mtu, addresses: link.addr_info.map((a) => a.local), routes };`);

    expect(result).toMatchObject({ changed: { ok: true }, mtu: 1_380 });
    expect(result).toHaveProperty("addresses", expect.arrayContaining(["100.64.0.9"]));
    expect(result).toHaveProperty("addresses", expect.not.arrayContaining(["100.64.0.1"]));
    expect(result).toHaveProperty("routes", expect.stringContaining("100.64.0.0/16 dev weft-o"));
  });

  test.each([
    {
      name: "a port that is taken",
      setUp: "open({ listenPort: 5000 });",
      change: { interfaceName: "weft-p", listenPort: 5000 },
      error: { code: "port_in_use", port: 5000 },
    },
    { name: "a name that is taken", setUp: "open({});", change: {}, error: { code: "tun_busy" } },
    {
      name: "a name that is too long",
      setUp: "",
      change: { interfaceName: "weft-far-too-long-a-name" },
      error: { code: "invalid_option" },
    },
  ])("says what is wrong with $name", async ({ setUp, change, error }) => {
    const result = await inside(
      `${setUp} const { ok, error } = open(${JSON.stringify(change)}); return { ok, error };`,
    );

    expect(result).toMatchObject({ ok: false, error });
  });

  test("a private key of another length is refused before anything is made", async () => {
    expect(await inside(`return open({ privateKey: new Secret(new Uint8Array(31)) });`)).toMatchObject({
      ok: false,
      error: { code: "invalid_option" },
    });
  });

  test("opens and closes a hundred times and leaves no descriptor behind", async () => {
    const result = await inside(`
      const { readdirSync } = await import("node:fs");
      open({}).value.close();
      const before = readdirSync("/proc/self/fd").length;
      for (let round = 0; round < 100; round += 1) open({}).value.close();
      return readdirSync("/proc/self/fd").length - before;`);

    expect(result).toBe(0);
  });
});
