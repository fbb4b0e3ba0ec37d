import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TunnelWorld } from "./in-memory-tunnel.ts";
import { eventKinds, type Host, introduce, LATENCY_MS, makeHost, makeWorld } from "./test-hosts.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import type { Datagram } from "./virtual-network.ts";

/** What happens to the n-th handshake message of the run: lost, or late by some milliseconds. */
type Fate = "lost" | number;

type Schedule = {
  /** When each side starts a handshake of its own. */
  readonly startsAtMs: readonly [number, number];
  readonly fates: readonly Fate[];
};

const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 * LATENCY_MS }) },
  { weight: 1, arbitrary: fc.constant("lost" as const) },
);
const schedules: fc.Arbitrary<Schedule> = fc.record({
  startsAtMs: fc.tuple(fc.integer({ min: 0, max: 5 * LATENCY_MS }), fc.integer({ min: 0, max: 5 * LATENCY_MS })),
  fates: fc.array(fate, { maxLength: 8 }),
});

describe("handshakes that cross", () => {
  test("lose no packet while a session exists, however their messages are ordered, late or lost", () => {
    fc.assert(
      fc.property(schedules, (schedule) => {
        const { alice, bob, sent } = run(schedule);

        expect(heardLater(bob).toSorted()).toEqual(sent.map((number) => `a${number}`).toSorted());
        expect(heardLater(alice).toSorted()).toEqual(sent.map((number) => `b${number}`).toSorted());
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ["answers cross", [0, 0], []],
    ["the second starts while the first is on its way", [0, 5], []],
    ["the second starts when the first has arrived", [0, 10], []],
    ["the first answer is lost", [0, 30], [0, "lost"]],
    ["the first initiation is lost", [0, 5], ["lost"]],
    ["both answers are late", [0, 0], [0, 0, 25, 25]],
  ] satisfies [string, [number, number], Fate[]][])("lose no packet when %s", (_name, startsAtMs, fates) => {
    const { alice, bob, sent } = run({ startsAtMs, fates });

    expect(heardLater(bob)).toEqual(sent.map((number) => `a${number}`));
    expect(heardLater(alice)).toEqual(sent.map((number) => `b${number}`));
    expect(eventKinds(alice)).not.toContain("peer-down");
  });

  test("leave both sides able to call again once the session has ended, without keepalives", () => {
    fc.assert(
      fc.property(schedules, (schedule) => {
        const { world, alice, bob } = makePair(schedule.fates);
        // Neither has a session, and both go on talking while their handshakes cross.
        for (const host of [alice, bob]) host.tunnel.replacePeers([]);
        introduce(alice, bob);
        for (const [from, to, at] of [
          [alice, bob, 0],
          [bob, alice, 1],
        ] as const) {
          const fromMs = schedule.startsAtMs[at];
          for (let ms = 0; ms < 60; ms += 4) world.time.scheduler.after(fromMs + ms, () => from.say(to, "crossing"));
        }
        world.time.advance(400_000);
        for (const [from, to] of [
          [bob, alice],
          [alice, bob],
        ] as const) {
          const before = to.heard().length;
          from.say(to, "again");
          world.time.advance(60_000);
          expect(to.heard().slice(before)).toEqual(["again"]);
          world.time.advance(400_000);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("of a host that came back without its sessions lose nothing once an answer has come", () => {
    fc.assert(
      fc.property(schedules, ({ startsAtMs, fates }) => {
        const { world, alice, bob } = makePair(fates);
        // Bob forgets everything, as a killed agent does, and both sides call each other.
        bob.tunnel.replacePeers([]);
        bob.tunnel.replacePeers([alice.asPeer]);
        const answered = callEachOther(world.time, { alice, bob, startsAtMs });
        const heardBefore = [alice.heard().length, bob.heard().length];
        const sent = chatter(world.time, { alice, bob, steps: 400, stepMs: 5 });

        expect(answered).toBe(true);
        expect(bob.heard().slice(heardBefore[1])).toEqual(sent.map((number) => `a${number}`));
        expect(alice.heard().slice(heardBefore[0])).toEqual(sent.map((number) => `b${number}`));
      }),
      { numRuns: 40 },
    );
  });
});

/** Both sides renew a session under steady traffic as the schedule says. */
function run({ startsAtMs, fates }: Schedule): { alice: Host; bob: Host; sent: readonly number[] } {
  const { world, alice, bob } = makePair(fates);
  const { time } = world;
  time.scheduler.after(startsAtMs[0], () => call(alice, bob));
  time.scheduler.after(startsAtMs[1], () => call(bob, alice));
  const sent = chatter(time, { alice, bob, steps: 150, stepMs: 1 });
  const later = chatter(time, { alice, bob, steps: 300, stepMs: 40, from: sent.length });
  return { alice, bob, sent: [...sent, ...later] };
}

function callEachOther(
  time: VirtualClock,
  { alice, bob, startsAtMs }: { alice: Host; bob: Host; startsAtMs: readonly [number, number] },
): boolean {
  time.scheduler.after(startsAtMs[0], () => call(alice, bob));
  time.scheduler.after(startsAtMs[1], () => call(bob, alice));
  for (let second = 0; second < 60; second += 1) {
    const before = bob.heard().length;
    alice.say(bob, "are you back");
    time.advance(1_000);
    if (bob.heard().length === before) continue;
    const answersBefore = alice.heard().length;
    bob.say(alice, "I am");
    time.advance(1_000);
    if (alice.heard().length > answersBefore) return true;
  }
  return false;
}

/** Both sides send a numbered packet at every step; returns the numbers once the last have had time to arrive. */
function chatter(
  time: VirtualClock,
  talk: { alice: Host; bob: Host; steps: number; stepMs: number; from?: number },
): readonly number[] {
  const { alice, bob, steps, stepMs, from = 0 } = talk;
  const numbers = Array.from({ length: steps }, (_, step) => from + step);
  for (const number of numbers) {
    alice.say(bob, `a${number}`);
    bob.say(alice, `b${number}`);
    time.advance(stepMs);
  }
  time.advance(5 * LATENCY_MS);
  return numbers;
}

/** What a host heard after the pair was made. */
function heardLater(host: Host): readonly string[] {
  return host.heard().filter((text) => text !== FIRST);
}

const FIRST = "made";

function call(caller: Host, callee: Host): void {
  const [endpoint] = callee.asPeer.endpoints;
  if (endpoint) caller.tunnel.resumePeers([{ publicKey: callee.tunnel.publicKey, endpoint }]);
}

/** Two hosts with a session, heard of each other, on a network that treats handshake messages from now on as told. */
function makePair(fates: readonly Fate[]): { world: TunnelWorld & { time: VirtualClock }; alice: Host; bob: Host } {
  const { time, network } = makeWorld();
  const rules = { fates: [] as readonly Fate[], used: 0 };
  const world = { time, network: { attach: network.attach, send: (datagram: Datagram) => convey(datagram) } };
  const [alice, bob] = [makeHost(world, 1), makeHost(world, 2)];
  introduce(alice, bob);
  alice.say(bob, FIRST);
  time.advance(6_000);
  bob.say(alice, FIRST);
  time.advance(6_000);
  rules.fates = fates;
  return { world, alice, bob };

  function convey(datagram: Datagram): void {
    const isHandshake = datagram.payload[0] !== 4;
    const fate = isHandshake ? (rules.fates[rules.used] ?? 0) : 0;
    if (isHandshake && rules.fates.length > 0) rules.used += 1;
    if (fate === 0) network.send(datagram);
    else if (fate !== "lost") time.scheduler.after(fate, () => network.send(datagram));
  }
}
