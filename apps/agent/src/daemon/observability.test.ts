import { execFile, execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createConnection } from "node:net";
import { promisify } from "node:util";
import { endpointOf, parseIp, peerIds } from "@weft/protocol";
import { aNetworkMap, anIpv4, anIpv6, aPeer, aSelf, countingRandom, mustBe } from "@weft/protocol/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { askDaemon } from "../cli/daemon-client.ts";
import { createStateStore } from "../state/state-store.ts";
import { startControlPlane, type TestControlPlane } from "../testing/control-plane.ts";
import { aStateDirectory, eventually } from "../testing/fixtures.ts";
import {
  makeTwoHosts,
  startWeft,
  weft,
  whyNoRealTunnels,
  type TwoHosts,
  type WeftProcess,
} from "../testing/two-hosts.ts";
import type { StatusView } from "./status-view.ts";

const obstacle = whyNoRealTunnels();

describe.skipIf(obstacle !== null)(
  `watching two agents at work${obstacle === null ? "" : ` (skipped: ${obstacle})`}`,
  () => {
    let hosts: TwoHosts;
    const states = [aStateDirectory(), aStateDirectory()] as const;
    const planes: TestControlPlane[] = [];
    const processes: WeftProcess[] = [];
    const dir = (host: 0 | 1): string[] => ["--state-dir", states[host].paths.directory];
    const status = async (host: 0 | 1): Promise<StatusView> =>
      JSON.parse((await weft(hosts.names[host], ["status", "--json", ...dir(host)])).stdout) as StatusView;
    const isUp = async (host: 0 | 1): Promise<boolean> => (await status(host)).peers[0]?.session === "up";
    const flood = (): { readonly stop: () => void } => {
      const child = spawn("ip", ["netns", "exec", hosts.names[0], process.execPath, "-e", FLOODER, "10.77.0.2"], {
        stdio: "ignore",
      });
      return { stop: () => void child.kill("SIGKILL") };
    };

    beforeAll(async () => {
      hosts = makeTwoHosts("watch");
      const keys = states.map((state) => mustBe(createStateStore(state.paths).ensureIdentity()).publicKey);
      for (const own of [0, 1] as const) {
        const other = own === 0 ? 1 : 0;
        const plane = await startControlPlane({ socketPath: `${states[own].paths.directory}/server.sock` });
        const endpoints = [mustBe(endpointOf(mustBe(parseIp(hosts.addresses[other])), 51_820))];
        plane.setMap({
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
              // Only the first host knows where the other is: the second one must remember where it heard from.
              endpoints: own === 0 ? endpoints : [],
              keepaliveSeconds: 0,
            }),
          ],
        });
        planes.push(plane);
        const run = startWeft(hosts.names[own], ["join", plane.url, plane.joinKey, "--foreground", ...dir(own)], {
          WEFT_DEBUG_FAULTS: own === 1 ? "1" : "",
          WEFT_IO: own === 1 ? "io_uring" : "",
          WEFT_SHARDS: "2",
          WEFT_LOG: "debug",
        });
        processes.push(run);
        await eventually(`ready line (${run.stderr()})`, () => run.stdout().includes('"ready"'), 30_000);
      }
      await weft(hosts.names[0], ["ping", "host-1", "-c", "3", "--interval", "100", ...dir(0)]);
      if (!(await isUp(0))) throw new Error("the two hosts have no session");
    }, 90_000);
    afterAll(async () => {
      for (const own of [0, 1] as const) await weft(hosts.names[own], ["down", ...dir(own)]);
      for (const run of processes) run.child.kill("SIGKILL");
      for (const plane of planes) await plane.stop();
      hosts.remove();
      for (const state of states) state.remove();
    });

    test("a profile of a busy agent names functions of the engine and of JavaScript", async () => {
      const load = flood();
      const talk = { goesOn: true };
      const talking = (async () => {
        while (talk.goesOn) await askDaemon(states[0].paths.socket, { method: "status" }).answer;
      })();
      const file = `${states[0].paths.directory}/cpu.pb.gz`;

      const folded = await weft(hosts.names[0], ["profile", "--seconds", "3", "--frequency", "199", ...dir(0)]);
      const written = await weft(hosts.names[0], [
        "profile",
        "--seconds",
        "2",
        "--format",
        "pprof",
        "--output",
        file,
        "--json",
        ...dir(0),
      ]);
      load.stop();
      talk.goesOn = false;
      await talking;

      expect([folded.code, written.code, folded.stderr, written.stderr]).toEqual([0, 0, "", ""]);
      const lines = folded.stdout.split("\n");
      expect(lines).toContainEqual(expect.stringMatching(/^weft-shard-.*engine::shard::/));
      expect(lines).toContainEqual(expect.stringMatching(/^javascript;.*\w+ [\w./:-]+:\d+/));
      expect(lines.filter((line) => line !== "" && !/^[^;]+(;[^;]+)* \d+$/.test(line))).toEqual([]);
      expect(JSON.parse(written.stdout)).toMatchObject({ format: "pprof", file, frequencyHz: 99 });
    }, 90_000);

    test(
      "pprof reads the profile of a busy agent",
      async ({ skip }) => {
        if (!hasGo()) skip("Go is not installed");
        const file = `${states[0].paths.directory}/cpu-for-pprof.pb.gz`;
        const load = flood();
        await weft(hosts.names[0], ["profile", "--seconds", "2", "--format", "pprof", "--output", file, ...dir(0)]);
        load.stop();

        const { stdout } = await promisify(execFile)("go", ["tool", "pprof", "-top", "-nodecount=200", file]);

        expect(stdout).toContain("engine::shard::");
      },
      // Go builds its tool when it is asked for the first time.
      PPROF_BUILD_MS,
    );

    test("status shows stages with their batch sizes, system calls per megabyte and drops by reason", async () => {
      const load = flood();
      await new Promise((resolve) => setTimeout(resolve, 500));
      load.stop();

      const { engine, offloads } = await status(0);

      const seal = engine.stages.find(({ stage, packets }) => stage === "seal" && packets > 0);
      expect(seal?.packetsPerBatch).toBeGreaterThanOrEqual(1);
      const classes = Object.values(seal?.batchSizes ?? {}).reduce((sum, count) => sum + count, 0);
      expect(classes).toBe(seal?.batches);
      expect(engine.syscallsPerMegabyte).toBeGreaterThan(0);
      expect(engine.totals["udpSendCalls"]).toBeGreaterThan(0);
      expect(offloads.every(({ state, reason }) => state === "on" || reason !== null)).toBe(true);
    }, 60_000);

    test("FBK-07 FBK-09 status names the driver of the workers, and why it is not the other", async () => {
      const [first, second] = [await status(0), await status(1)];

      expect(first.driver).toEqual({ name: "epoll", reason: "brings nothing: left out unless asked for" });
      // A kernel without rings is a reason, too.
      const ring = second.offloads.find(({ name }) => name === "ioUring");
      expect(second.driver).toEqual({ name: ring?.state === "on" ? "io_uring" : "epoll", reason: ring?.reason });
      expect(ring).toBeDefined();
    });

    test("the debug bundle says what is in it and holds no private key", async () => {
      const file = `${states[1].paths.directory}/bundle.json`;

      const made = await weft(hosts.names[1], ["debug", "--output", file, ...dir(1)]);

      expect(made.stdout).toContain("environment: the agent's own settings (WEFT_…)");
      const text = readFileSync(file, "utf8");
      expect(JSON.parse(text)).toMatchObject({ status: { name: "host-1" }, map: { peers: 1 } });
      const identity: unknown = JSON.parse(readFileSync(states[1].paths.identity, "utf8"));
      const secrets = secretsIn(identity);
      expect(secrets.length).toBeGreaterThanOrEqual(2);
      for (const secret of [...secrets, planes[1]!.joinKey]) {
        expect(text).not.toContain(secret);
        for (const encoding of ["hex", "base64", "base64url"] as const)
          expect(text).not.toContain(Buffer.from(secret, "base64url").toString(encoding));
      }
    }, 60_000);

    test("a worker that panics under load costs three seconds at most, no descriptor and no thread", async () => {
      const load = flood();
      const pid = (await status(1)).pid;
      await injectPanic(states[1].paths.socket);
      await backAfter(1);
      const before = held(pid);
      await injectPanic(states[1].paths.socket);
      await backAfter(2);
      load.stop();

      const view = await status(1);
      expect(view.pid).toBe(pid);
      expect(view.engine.lastFailure?.reason).toMatch(/^worker 0: .*shared\.rs:\d+: a panic was asked for$/);
      expect(view.problems.join()).toContain("engine: restarted 2 times");
      expect(view.interface).toBe("weft0");
      expect(held(pid)).toEqual(before);
      const outagesMs = outages(processes[1]!.stderr());
      expect(outagesMs).toHaveLength(2);
      expect(Math.max(...outagesMs)).toBeLessThanOrEqual(3_000);
      expect(
        planes[1]!.streams
          .at(-1)
          ?.frames.some((frame) => frame.kind === "status" && frame.status.problems.join().includes("restarted")),
      ).toBe(true);
      const ping = await weft(hosts.names[1], ["ping", "host-0", "-c", "2", "--interval", "100", "--json", ...dir(1)]);
      expect(JSON.parse(ping.stdout)).toMatchObject({ received: 2 });
    }, 120_000);

    /** The engine has restarted that often and the session is up. */
    async function backAfter(restarts: number): Promise<void> {
      const until = performance.now() + 30_000;
      for (;;) {
        const view = await status(1);
        if (view.engine.restarts === restarts && view.peers[0]?.session === "up") return;
        if (performance.now() > until) throw new Error(`after ${view.engine.restarts} restarts there is no session`);
      }
    }
  },
);

function injectPanic(socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath);
    socket.on("connect", () => socket.write(`${JSON.stringify({ method: "injectPanic", shard: 0 })}\n`));
    socket.on("data", (data) =>
      data.toString().includes('"result"') ? resolve() : reject(new Error(data.toString())),
    );
    socket.on("error", reject);
  });
}

/** From each failure of the engine to the session that followed it, by the daemon's own log. */
function outages(log: string): number[] {
  const lines = log.split("\n").flatMap((line) => {
    const match = /"time":"([^"]+)".*"event":"(engine_failed|peer_up)"/.exec(line);
    return match?.[1] ? [{ event: match[2], atMs: Date.parse(match[1]) }] : [];
  });
  return lines.flatMap(({ event, atMs }, index) => {
    const next = lines.slice(index + 1).find((line) => line.event === "peer_up");
    return event === "engine_failed" && next ? [next.atMs - atMs] : [];
  });
}

/** How many threads a process has, and how many descriptors of each kind that belongs to an engine. */
function held(pid: number): object {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return "";
    }
  });
  const count = (kind: RegExp): number => links.filter((link) => kind.test(link)).length;
  return {
    threads: readdirSync(`/proc/${pid}/task`).length,
    tun: count(/net\/tun/),
    polls: count(/eventpoll/),
    events: count(/eventfd/),
    perf: count(/perf_event/),
  };
}

function secretsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === "string" && /private|seed|secret|wireguardKey/i.test(name) ? [inner] : secretsIn(inner),
  );
}

function hasGo(): boolean {
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const PPROF_BUILD_MS = 600_000;

const FLOODER = `
  const socket = require("node:dgram").createSocket("udp4");
  const to = process.argv[1];
  const send = () => { for (let i = 0; i < 200; i += 1) socket.send(Buffer.alloc(1200), 9, to, () => {}); setImmediate(send); };
  socket.bind(0, send);
`;
