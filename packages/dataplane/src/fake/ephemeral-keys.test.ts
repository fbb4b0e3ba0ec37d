import type { LinkProfile } from "@weft/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Host, makeHost, makeWorld } from "./test-hosts.ts";
import type { Datagram } from "./virtual-network.ts";

const PROFILE: LinkProfile = { revision: 1, cipher: "aes-256-gcm", elision: "on", lanes: 1 };
const OTHER: LinkProfile = { ...PROFILE, revision: 2 };

/** What may happen in a second while both ends escalate: retries, cookies, plain WireGuard, another profile. */
type Deed = "pass" | "drop all" | "drop answers" | "repeat" | "load" | "calm" | "alice changes" | "bob changes";
const deed = fc.constantFrom<Deed>(
  "pass",
  "pass",
  "drop all",
  "drop answers",
  "repeat",
  "load",
  "calm",
  "alice changes",
  "bob changes",
);

test("P-18 no order of losses, cookies, retries and changed profiles makes two handshakes share an ephemeral key", () => {
  fc.assert(
    fc.property(fc.array(deed, { minLength: 30, maxLength: 60 }), (deeds) => {
      const world = makeWorld();
      const [alice, bob] = [makeHost(world, 1), makeHost(world, 2)];
      const profiles = new Map([
        [alice, PROFILE],
        [bob, PROFILE],
      ]);
      const tell = (): void => {
        alice.tunnel.replacePeers([peer(bob, profiles.get(alice))]);
        bob.tunnel.replacePeers([peer(alice, profiles.get(bob))]);
      };
      const change = (host: Host): void => {
        profiles.set(host, profiles.get(host) === PROFILE ? OTHER : PROFILE);
        tell();
      };
      tell();

      for (const next of deeds) {
        world.network.interceptWith((datagram) => carried(next, datagram));
        if (next === "load" || next === "calm") {
          for (const host of [alice, bob]) host.engine.setLoad(next === "load" ? "high" : "normal");
        }
        if (next === "alice changes") change(alice);
        if (next === "bob changes") change(bob);
        // Both call at the same moment, as they do after an outage.
        alice.say(bob, "a");
        bob.say(alice, "b");
        world.time.advance(2_500);
      }

      const messages = world.network.sent.filter(({ payload }) => payload[0] === 1 || payload[0] === 2);
      const texts = new Map<string, Set<string>>();
      for (const { payload } of messages) {
        const ephemeral = hex(payload[0] === 1 ? payload.subarray(8, 40) : payload.subarray(12, 44));
        // The same message again, or to another address, is no other handshake; cookies are outside of what is signed.
        const text = hex(payload.subarray(0, payload.length - 16));
        texts.set(ephemeral, (texts.get(ephemeral) ?? new Set()).add(text));
      }
      expect(messages.length).toBeGreaterThan(0);
      expect([...texts.values()].every((set) => set.size === 1)).toBe(true);
    }),
    { numRuns: 12 },
  );
});

function carried(deed: Deed, datagram: Datagram): readonly Datagram[] {
  if (deed === "drop all") return [];
  if (deed === "drop answers") return datagram.payload[0] === 2 ? [] : [datagram];
  return deed === "repeat" ? [datagram, datagram] : [datagram];
}

function peer(host: Host, profile: LinkProfile | undefined): Host["asPeer"] {
  return { ...host.asPeer, ...(profile ? { profile } : {}), profileFallback: "plain" };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
