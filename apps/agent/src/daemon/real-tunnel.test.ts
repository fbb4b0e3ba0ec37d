import { existsSync, readFileSync } from "node:fs";
import { endpointOf, parseIp, peerIds, type NetworkMap } from "@weft/protocol";
import { aNetworkMap, anIpv4, anIpv6, aPeer, aSelf, countingRandom, mustBe } from "@weft/protocol/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createStateStore } from "../state/state-store.ts";
import { startControlPlane, type TestControlPlane } from "../testing/control-plane.ts";
import { aStateDirectory, eventually } from "../testing/fixtures.ts";
import {
  ip,
  makeTwoHosts,
  startWeft,
  weft,
  whyNoRealTunnels,
  type TwoHosts,
  type WeftProcess,
} from "../testing/two-hosts.ts";

const obstacle = whyNoRealTunnels();

describe.skipIf(obstacle !== null)(
  `real tunnels between two namespaces${obstacle === null ? "" : ` (skipped: ${obstacle})`}`,
  () => {
    let hosts: TwoHosts;
    const states = [aStateDirectory(), aStateDirectory()] as const;
    const planes: TestControlPlane[] = [];
    const processes: WeftProcess[] = [];
    const dir = (host: 0 | 1): string[] => ["--state-dir", states[host].paths.directory];

    beforeAll(async () => {
      hosts = makeTwoHosts("agent");
      const keys = states.map((state) => mustBe(createStateStore(state.paths).ensureIdentity()).publicKey);
      for (const own of [0, 1] as const) {
        const other = own === 0 ? 1 : 0;
        const plane = await startControlPlane({ socketPath: `${states[own].paths.directory}/server.sock` });
        const map: NetworkMap = {
          ...aNetworkMap(0),
          self: aSelf({
            peerId: peerIds.make(countingRandom(own)),
            name: `host-${own}`,
            ipv4: anIpv4(own),
            ipv6: anIpv6(own),
          }),
          peers: [
            aPeer(other, {
              name: `host-${other}`,
              publicKey: keys[other]!,
              ipv4: anIpv4(other),
              ipv6: anIpv6(other),
              endpoints: [mustBe(endpointOf(mustBe(parseIp(hosts.addresses[other])), 51_820))],
            }),
          ],
        };
        plane.setMap(map);
        planes.push(plane);
      }
    });
    afterAll(async () => {
      for (const run of processes) run.child.kill("SIGKILL");
      for (const own of [0, 1] as const) await weft(hosts.names[own], ["down", ...dir(own)]);
      for (const plane of planes) await plane.stop();
      hosts.remove();
      for (const state of states) state.remove();
    });

    const interfaces = (host: 0 | 1): string => ip(["-n", hosts.names[host], "-o", "link"]);
    const foreground = async (host: 0 | 1, words: string[]): Promise<{ run: WeftProcess; pid: number }> => {
      const run = startWeft(hosts.names[host], words);
      processes.push(run);
      await eventually(`ready line (${run.stderr()})`, () => run.stdout().includes('"ready"'), 15_000);
      const ready = JSON.parse(run.stdout().trim()) as { pid: number; interface: string; ipv4: string };
      expect(ready).toMatchObject({ interface: "weft0", ipv4: `10.77.0.${host + 1}` });
      return { run, pid: ready.pid };
    };

    test("join in the foreground and in the background; ping by name over both families; status tells the truth", async () => {
      const first = await foreground(0, ["join", planes[0]!.url, planes[0]!.joinKey, "--foreground", ...dir(0)]);
      const second = await weft(hosts.names[1], ["join", planes[1]!.url, planes[1]!.joinKey, "--json", ...dir(1)]);
      expect(second.stderr).toBe("");
      expect(JSON.parse(second.stdout)).toMatchObject({ name: "host-1", ipv4: "10.77.0.2", interface: "weft0" });

      const byName = await weft(hosts.names[0], [
        "ping",
        "host-1",
        "-c",
        "3",
        "--interval",
        "100",
        "--json",
        ...dir(0),
      ]);
      const byAddress = await weft(hosts.names[1], ["ping", "fd77::1", "-c", "2", "--interval", "100", ...dir(1)]);

      expect(JSON.parse(byName.stdout)).toMatchObject({
        peer: "host-1",
        sent: 3,
        received: 3,
        endpoint: "192.0.2.2:51820",
      });
      expect(byAddress.stdout).toContain("2 sent, 2 received, 0% lost");
      expect([byName.code, byAddress.code]).toEqual([0, 0]);
      const status = JSON.parse((await weft(hosts.names[0], ["status", "--json", ...dir(0)])).stdout) as {
        pid: number;
        peers: { rxBytes: number }[];
      };
      expect(status.pid).toBe(first.pid);
      expect(status.peers).toMatchObject([{ name: "host-1", session: "up", endpoint: "192.0.2.2:51820" }]);
      expect(status.peers[0]!.rxBytes).toBeGreaterThan(0);
      expect(ip(["-n", hosts.names[0], "route", "show", "dev", "weft0"])).toContain("10.77.0.0/16");
      const text = await weft(hosts.names[1], ["status", ...dir(1)]);
      expect(text.stdout).toMatch(/host-0 +10\.77\.0\.1 +192\.0\.2\.1:51820 +up/);
    });

    test("an interface that was taken down and up again gets its addresses and routes back", async () => {
      const [name] = hosts.names;
      ip(["-n", name, "link", "set", "weft0", "down"]);
      ip(["-n", name, "link", "set", "weft0", "up"]);

      await eventually(
        "route",
        () => ip(["-n", name, "route", "show", "dev", "weft0"]).includes("10.77.0.0/16"),
        10_000,
      );
      await eventually(
        "IPv6 route",
        () => ip(["-n", name, "-6", "route", "show", "dev", "weft0"]).includes("fd77::/64"),
        10_000,
      );
      const ping = await weft(name, ["ping", "fd77::2", "-c", "3", "--interval", "100", "--json", ...dir(0)]);

      expect(JSON.parse(ping.stdout)).toMatchObject({ received: 3 });
    });

    test("an idle agent stays under 110 MB", async () => {
      const status = JSON.parse((await weft(hosts.names[1], ["status", "--json", ...dir(1)])).stdout) as {
        pid: number;
      };

      const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${status.pid}/status`, "utf8"))?.[1];

      expect(Number(rss)).toBeGreaterThan(0);
      expect(Number(rss) / 1024).toBeLessThan(110);
    });

    test("AP-47 AP-48 kill -9 of the agent with the server off: the next start brings the mesh up from disk", async () => {
      await planes[0]!.stop();
      const killed = JSON.parse((await weft(hosts.names[0], ["status", "--json", ...dir(0)])).stdout) as {
        pid: number;
      };
      process.kill(killed.pid, "SIGKILL");
      await eventually(
        "gone",
        () => !existsSync(`/proc/${killed.pid}`) || readFileSync(`/proc/${killed.pid}/stat`, "utf8").includes(") Z "),
      );

      await foreground(0, ["up", "--foreground", ...dir(0)]);
      const ping = await weft(hosts.names[0], ["ping", "host-1", "-c", "3", "--interval", "100", "--json", ...dir(0)]);

      expect(JSON.parse(ping.stdout)).toMatchObject({ received: expect.any(Number) });
      expect(ping.code).toBe(0);
    });

    test("a second daemon on the same state is refused and says who holds it", async () => {
      const second = await weft(hosts.names[0], ["up", "--foreground", ...dir(0)]);

      expect(second.code).toBe(8);
      expect(second.stderr).toContain("already runs");
    });

    test("SIGTERM ends the agent within 5 s with everything removed", async () => {
      const status = JSON.parse((await weft(hosts.names[0], ["status", "--json", ...dir(0)])).stdout) as {
        pid: number;
      };
      const startedMs = performance.now();

      process.kill(status.pid, "SIGTERM");
      const code = await processes.at(-1)!.exited;

      expect(code).toBe(0);
      expect(performance.now() - startedMs).toBeLessThan(5_000);
      expect(interfaces(0)).not.toContain("weft0");
      expect(existsSync(states[0].paths.socket) || existsSync(states[0].paths.lock)).toBe(false);
    });

    test("down and up keep the membership; leave ends it", async () => {
      expect((await weft(hosts.names[1], ["down", ...dir(1)])).code).toBe(0);
      expect(interfaces(1)).not.toContain("weft0");
      expect((await weft(hosts.names[1], ["status", ...dir(1)])).code).toBe(4);
      expect((await weft(hosts.names[1], ["up", ...dir(1)])).code).toBe(0);
      expect(interfaces(1)).toContain("weft0");

      const left = await weft(hosts.names[1], ["leave", "--json", ...dir(1)]);

      expect(JSON.parse(left.stdout)).toEqual({ left: true, serverTold: true });
      expect(interfaces(1)).not.toContain("weft0");
      expect(existsSync(states[1].paths.identity)).toBe(false);
      expect((await weft(hosts.names[1], ["up", ...dir(1)])).code).toBe(3);
    });
  },
);
