import { describe, expect, test } from "vitest";
import { countingRandom } from "@weft/protocol/testing";

import { makeIdentity } from "../state/identity.ts";
import { createVirtualTimers } from "../testing/memory-system.ts";
import { createScriptedServer, SERVER_CLOCK_MS } from "../testing/scripted-server.ts";
import { aLog } from "../testing/fixtures.ts";
import { createControlClient } from "./control-client.ts";

const flush = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

async function start(
  chance = 0.5,
  behaviour: Parameters<typeof createScriptedServer>[0] = { mode: "normal", heartbeatMs: 15_000 },
) {
  const { timers, advance } = createVirtualTimers();
  const server = createScriptedServer(behaviour);
  const log = aLog();
  const identity = makeIdentity();
  const seen: string[] = [];
  const clocks: (readonly [number, number])[] = [];
  const facts = {
    agentVersion: "1",
    bootId: 1n,
    counterEpoch: 2n,
    lastMap: null,
    hostname: "h",
    wantedName: "",
    os: "linux",
    arch: "x64",
    capabilities: [],
  };
  const client = createControlClient(
    {
      connect: server.connect,
      timers,
      random: countingRandom(3),
      chance: () => chance,
      log: log.log,
      request: () => ({
        address: { kind: "socket", path: "/x" },
        serverKey: server.identity.serverKey,
        identity,
        facts,
        enrolmentKey: null,
      }),
    },
    {
      onConnected: () => void seen.push("connected"),
      onFrame: (frame) => void seen.push(frame.kind),
      onDisconnected: (verdict) => void seen.push(verdict.kind),
      onAnswer: () => {},
      onServerClock: (wallClockMs, sinceMs) => void clocks.push([wallClockMs, sinceMs]),
    },
  );
  client.start();
  await flush();
  /** Moves time in small steps so that what is asynchronous keeps up. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 500) {
      advance(Math.min(500, left));
      await flush();
    }
  };
  return { client, server, pass, seen, log, clocks };
}

describe("the control stream's life", () => {
  test("AP-40 a ping goes out every 15 s, give or take 10 %", async () => {
    for (const [chance, firstMs] of [
      [0, 13_500],
      [0.999, 16_499],
    ] as const) {
      const { server, pass } = await start(chance);
      const pings = (): number => server.connections[0]?.received.filter((frame) => frame.kind === "ping").length ?? 0;

      await pass(firstMs - 600);
      expect(pings()).toBe(0);
      await pass(1_200);
      expect(pings()).toBe(1);
    }
  });

  test("AP-40 35 s of silence end the stream, a frame of any kind keeps it", async () => {
    const { client, server, pass } = await start();
    await pass(30_000);
    server.connections[0]?.send({ kind: "watch", intervalMs: 1000 });
    await pass(34_000);
    expect(server.connections[0]?.state).toBe("open");

    await pass(1_500);

    expect(server.connections[0]?.state).toBe("closed");
    expect(client.state().state).toBe("connected");
    expect(server.connections).toHaveLength(2);
  });

  test("the server's pings are answered with their token", async () => {
    const { server } = await start();

    server.connections[0]?.send({ kind: "ping", token: 99n });

    expect(server.connections[0]?.received.at(-1)).toEqual({ kind: "pong", token: 99n, wallClockMs: null });
  });

  test("AP-7 welcome and pong tell the server's clock, with the time in between in which it was read", async () => {
    const { server, pass, clocks } = await start();
    expect(clocks).toEqual([[SERVER_CLOCK_MS, 0]]);
    await pass(15_000);
    const ping = server.connections[0]?.received.find((frame) => frame.kind === "ping");
    await pass(700);
    const pong = (token: bigint, wallClockMs: number | null): void =>
      server.connections[0]?.send({ kind: "pong", token, wallClockMs });

    // A stranger's token says nothing of when the clock was read; a second answer neither.
    pong(12n, 1);
    pong(ping?.kind === "ping" ? ping.token : 0n, SERVER_CLOCK_MS + 15_350);
    pong(ping?.kind === "ping" ? ping.token : 0n, 2);

    expect(clocks.slice(1)).toEqual([[SERVER_CLOCK_MS + 15_350, 15_000]]);
  });

  test("AP-43 while the server is away the attempts become rare, and none is lost to an outage of hours", async () => {
    const { client, server, pass, log } = await start(0.999, { mode: "unreachable", heartbeatMs: 15_000 });

    await pass(60_000);
    expect(server.connections.length).toBeLessThanOrEqual(12);
    await pass(6 * 3600_000);
    expect(server.connections.length).toBeGreaterThan(6 * 60 - 10);
    // AP-49: a line per attempt at most, and attempts are rare.
    expect(log.lines.length).toBeLessThanOrEqual(server.connections.length);

    server.behaviour.mode = "normal";
    await pass(61_000);
    expect(client.state().state).toBe("connected");
  });

  test("a handshake that stalls is given up after 10 s", async () => {
    const { client, pass } = await start(0.5, { mode: "mute", heartbeatMs: 15_000 });
    expect(client.state().state).toBe("connecting");

    await pass(10_000);

    expect(client.state()).toMatchObject({ state: "waiting" });
  });

  test("AP-43 bye restart is followed by a return inside the announced window", async () => {
    const { client, server, pass } = await start(0.5);
    server.connections[0]?.send({ kind: "bye", reason: "restart", detail: "none", message: "", retryAfterMs: 8_000 });

    await pass(3_500);
    expect(server.connections).toHaveLength(1);
    await pass(1_000);

    expect(server.connections).toHaveLength(2);
    expect(client.state().state).toBe("connected");
  });

  test("AP-46 after bye removed nothing is tried any more and the reason stays", async () => {
    const { client, server, pass, seen } = await start();
    server.connections[0]?.send({
      kind: "bye",
      reason: "removed",
      detail: "none",
      message: "removed by ana",
      retryAfterMs: 0,
    });

    await pass(3600_000);

    expect(server.connections).toHaveLength(1);
    expect(client.state()).toEqual({ state: "ended", reason: "removed by ana" });
    expect(seen.at(-1)).toBe("final");
  });

  test("a lost connection comes back, and a stable stream forgets earlier failures", async () => {
    const { client, server, pass } = await start(0.999);
    for (let loss = 0; loss < 5; loss += 1) {
      await pass(11_000);
      server.connections.at(-1)?.breakOff();
      await pass(1_000);
      expect(client.state().state).toBe("connected");
    }
  });

  test("AP-45 a stream that breaks at once is retried ever more slowly", async () => {
    const { server, pass } = await start(0.999);
    for (let loss = 0; loss < 100; loss += 1) {
      server.connections.at(-1)?.breakOff();
      await pass(1_000);
    }

    expect(server.connections.length).toBeLessThan(18);
  });

  test("stopping says goodbye and ends for good", async () => {
    const { client, server, pass } = await start();

    client.stop("bye bye");
    await pass(120_000);

    expect(server.connections[0]?.received.at(-1)).toMatchObject({ kind: "bye", reason: "agent_stopping" });
    expect(server.connections).toHaveLength(1);
    expect(client.send({ kind: "leave" })).toBe("not_connected");
  });

  test("ND-5 a change of addresses reconnects at once", async () => {
    const { client, server, pass } = await start();

    client.reconnectNow("moved");
    await pass(100);

    expect(server.connections.map((connection) => connection.state)).toEqual(["closed", "open"]);
    expect(client.state().state).toBe("connected");
    await pass(5_000);
    expect(server.connections).toHaveLength(2);
  });
});
