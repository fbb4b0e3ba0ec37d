import type { Endpoint, FilterRule, Prefix, PublicKey } from "@weft/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FlowList, PeerState, RecordedFlow, TunnelEvent } from "../tunnel.ts";

/** A tunnel under test as plain data in and out, so that it may live in another process. */
export type ContractHost = {
  readonly publicKey: PublicKey;
  readonly endpoint: Endpoint;
  /** Own address inside the network, as a prefix of one address. */
  readonly inner: Prefix;
  readonly replacePeers: (peers: readonly ContractPeer[]) => Promise<void>;
  readonly changePeers: (changes: {
    readonly upserts: readonly ContractPeer[];
    readonly removals: readonly PublicKey[];
  }) => Promise<void>;
  readonly replaceFilter: (rules: readonly FilterRule[]) => Promise<void>;
  /** Moves the interface to another address. */
  readonly moveInner: (inner: Prefix) => Promise<void>;
  readonly peers: () => Promise<readonly PeerState[]>;
  readonly events: () => Promise<readonly TunnelEvent[]>;
  /** Handshakes started, and bytes received by peer. */
  readonly counters: () => Promise<ContractCounters>;
  /** Sends a UDP packet through the tunnel; says whether it arrived within a few seconds. */
  readonly reaches: (to: ContractHost, packet: ContractPacket) => Promise<boolean>;
  readonly flows: () => Promise<FlowList>;
  /** What is to be recorded of flows since the last call. */
  readonly flowRecords: () => Promise<readonly ContractRecord[]>;
  readonly close: () => Promise<void>;
};

export type ContractRecord = Omit<RecordedFlow, "id"> & { readonly id: string };

/** A UDP packet: ports 7007 and 7008 are listened at, and may be sent from; any port when `fromPort` is absent. */
export type ContractPacket = { readonly port: number; readonly fromPort?: number; readonly text: string };

export type ContractPeer = {
  readonly publicKey: PublicKey;
  /** Base64 of 32 bytes. */
  readonly presharedKey?: string;
  readonly allowedIps: readonly Prefix[];
  readonly endpoints: readonly Endpoint[];
  readonly keepaliveSeconds: number;
};

export type ContractCounters = {
  readonly initiationsSent: number;
  /** Senders that were asked to fetch a cookie first. */
  readonly cookiesWanted: number;
  readonly rxBytes: readonly { readonly publicKey: PublicKey; readonly bytes: number }[];
};

/** Three hosts that can reach each other outside, none of which knows another yet. */
export type MakeHosts = () => Promise<{
  readonly hosts: readonly [ContractHost, ContractHost, ContractHost];
  readonly dispose: () => Promise<void>;
}>;

/** Behaviour every tunnel owes its owner, in memory or real. */
export function tunnelContract(makeHosts: MakeHosts): void {
  let made: Awaited<ReturnType<MakeHosts>>;
  const hosts = (): readonly [ContractHost, ContractHost, ContractHost] => made.hosts;

  beforeEach(async () => {
    made = await makeHosts();
  });
  afterEach(async () => made?.dispose());

  test("carries packets both ways and starts the session by itself", async () => {
    const [alice, bob] = hosts();
    await introduce([alice, bob]);

    expect(await alice.reaches(bob, { port: 7007, text: "hello" })).toBe(true);
    expect(await bob.reaches(alice, { port: 7007, text: "hello yourself" })).toBe(true);
    expect((await alice.counters()).initiationsSent).toBe(1);
  });

  test("tells that the peer is up, where it is, and when the handshake was", async () => {
    const [alice, bob] = hosts();
    await introduce([alice, bob]);

    await alice.reaches(bob, { port: 7007, text: "hello" });

    for (const [here, there] of [
      [alice, bob],
      [bob, alice],
    ] as const) {
      const [state] = await here.peers();
      expect(state).toMatchObject({ publicKey: there.publicKey, endpoint: there.endpoint, session: { state: "up" } });
      expect(state?.lastHandshakeAtMs).toBeGreaterThan(0);
      expect(await here.events()).toContainEqual({
        kind: "peer-up",
        publicKey: there.publicKey,
        endpoint: there.endpoint,
      });
    }
  });

  test("carries nothing while the filter is empty, and only what it allows afterwards", async () => {
    const [alice, bob] = hosts();
    await introduce([alice, bob]);
    await bob.replaceFilter([]);

    expect(await alice.reaches(bob, { port: 7007, text: "denied" })).toBe(false);

    await bob.replaceFilter([{ ...ALLOW_ALL, ports: [{ low: 7008, high: 7008 }], protocol: 17 }]);
    expect(await alice.reaches(bob, { port: 7007, text: "still denied" })).toBe(false);
    expect(await alice.reaches(bob, { port: 7008, text: "allowed" })).toBe(true);
  });

  test("CP-8 answers of a one-way rule pass and nothing else comes in", async () => {
    const [alice, bob] = hosts();
    await introduce([alice, bob]);
    await alice.replaceFilter([{ ...ALLOW_ALL, id: 5, direction: "out", protocol: 17 }]);

    expect(await bob.reaches(alice, { port: 7007, fromPort: 7008, text: "unasked" })).toBe(false);
    expect(await alice.reaches(bob, { port: 7008, fromPort: 7007, text: "question" })).toBe(true);
    expect(await bob.reaches(alice, { port: 7007, fromPort: 7008, text: "answer" })).toBe(true);
    expect(await bob.reaches(alice, { port: 7007, fromPort: 7007, text: "not an answer" })).toBe(false);
    expect((await alice.flows()).flows).toContainEqual(
      expect.objectContaining({
        publicKey: bob.publicKey,
        localPort: 7007,
        remotePort: 7008,
        began: "here",
        verdict: "allow",
        rule: 5,
        rxPackets: 1,
        txPackets: 1,
      }),
    );
  });

  test("a change of the rules keeps flows that stay allowed and cuts the others", async () => {
    const [alice, bob] = hosts();
    await introduce([alice, bob]);
    const to = (id: number, port: number): FilterRule => ({
      ...ALLOW_ALL,
      id,
      direction: "out",
      protocol: 17,
      destination: [bob.inner],
      ports: [{ low: port, high: port }],
    });
    await alice.replaceFilter([to(1, 7007), to(2, 7008)]);
    await alice.reaches(bob, { port: 7007, fromPort: 7008, text: "one" });
    await alice.reaches(bob, { port: 7008, fromPort: 7007, text: "two" });

    await alice.replaceFilter([to(2, 7008)]);

    expect(await bob.reaches(alice, { port: 7007, fromPort: 7008, text: "kept" })).toBe(true);
    expect(await bob.reaches(alice, { port: 7008, fromPort: 7007, text: "cut" })).toBe(false);
    expect(await alice.reaches(bob, { port: 7007, fromPort: 7008, text: "cut, too" })).toBe(false);
  });

  test("AP-65: flows are recorded with rule, verdict, packets and drops once they are some seconds old", async () => {
    const [alice, bob] = hosts();
    await introduce([alice, bob]);
    const only = { ...ALLOW_ALL, protocol: 17, direction: "out" } as const;
    await alice.replaceFilter([
      { ...only, id: 8, action: "deny", ports: [{ low: 7008, high: 7008 }] },
      { ...only, id: 5, ports: [{ low: 7007, high: 7007 }] },
    ]);
    expect(await alice.flowRecords()).toEqual([]);

    expect(await alice.reaches(bob, { port: 7007, fromPort: 7008, text: "passes" })).toBe(true);
    // What is dropped is waited for, longer than a flow stays young.
    expect(await alice.reaches(bob, { port: 7008, fromPort: 7007, text: "is dropped" })).toBe(false);
    expect(await alice.reaches(bob, { port: 7008, fromPort: 7007, text: "is dropped, too" })).toBe(false);

    const told = await alice.flowRecords();
    const one = { publicKey: bob.publicKey, state: "open", began: "here" };
    expect(told).toContainEqual(
      expect.objectContaining({ ...one, remotePort: 7007, verdict: "allow", rule: 5, txPackets: 1, drops: 0 }),
    );
    expect(told).toContainEqual(
      expect.objectContaining({ ...one, remotePort: 7008, verdict: "deny", rule: 8, txPackets: 0, drops: 2 }),
    );
    expect(new Set(told.map(({ id }) => id)).size).toBe(2);
    expect(await alice.flowRecords()).toEqual([]);
  });

  test("flows end with their peer, also when it comes back", async () => {
    const [alice, bob] = hosts();
    await introduce([alice, bob]);
    await alice.replaceFilter([{ ...ALLOW_ALL, id: 5, direction: "out", protocol: 17 }]);
    expect(await alice.reaches(bob, { port: 7008, fromPort: 7007, text: "question" })).toBe(true);
    expect(await bob.reaches(alice, { port: 7007, fromPort: 7008, text: "answer" })).toBe(true);

    await alice.changePeers({ upserts: [], removals: [bob.publicKey] });
    await introduce([alice, bob]);

    expect((await alice.flows()).flows).toEqual([]);
    expect(await bob.reaches(alice, { port: 7007, fromPort: 7008, text: "to nothing" })).toBe(false);
    expect(await alice.reaches(bob, { port: 7008, fromPort: 7007, text: "question" })).toBe(true);
    expect(await bob.reaches(alice, { port: 7007, fromPort: 7008, text: "answer" })).toBe(true);
  });

  test("removing one peer leaves session and counters of another alone", async () => {
    const [alice, bob, carol] = hosts();
    await introduce([alice, bob, carol]);
    await alice.reaches(bob, { port: 7007, text: "to bob" });
    await alice.reaches(carol, { port: 7007, text: "to carol" });
    await carol.reaches(alice, { port: 7007, text: "to alice" });
    const before = await alice.counters();

    await alice.changePeers({ upserts: [], removals: [bob.publicKey] });

    expect(await alice.reaches(bob, { port: 7007, text: "gone" })).toBe(false);
    expect(await carol.reaches(alice, { port: 7007, text: "still here" })).toBe(true);
    const after = await alice.counters();
    expect(after.initiationsSent).toBe(before.initiationsSent);
    expect(bytesFrom(after, carol)).toBeGreaterThan(bytesFrom(before, carol));
    expect((await alice.peers()).map(({ publicKey }) => publicKey)).toEqual([carol.publicKey]);
  });

  test("the same map again changes nothing", async () => {
    const [alice, bob] = hosts();
    await introduce([alice, bob]);
    await alice.reaches(bob, { port: 7007, text: "one" });
    const before = await alice.peers();

    await introduce([alice, bob]);

    expect(await alice.reaches(bob, { port: 7007, text: "two" })).toBe(true);
    expect((await alice.counters()).initiationsSent).toBe(1);
    expect((await alice.peers())[0]?.lastHandshakeAtMs).toBe(before[0]?.lastHandshakeAtMs);
  });

  test("different preshared keys never make a session, equal ones do", async () => {
    const [alice, bob] = hosts();
    const key = (fill: number): string => Buffer.alloc(32, fill).toString("base64");
    await allowAll([alice, bob]);
    await alice.replacePeers([{ ...peerOf(bob), presharedKey: key(1) }]);
    await bob.replacePeers([{ ...peerOf(alice), presharedKey: key(2) }]);
    expect(await alice.reaches(bob, { port: 7007, text: "wrong" })).toBe(false);

    await bob.replacePeers([{ ...peerOf(alice), presharedKey: key(1) }]);
    expect(await bob.reaches(alice, { port: 7007, text: "right" })).toBe(true);
  });

  test("a packet from an address that is not the peer's is not delivered", async () => {
    const [alice, bob] = hosts();
    await allowAll([alice, bob]);
    await alice.replacePeers([peerOf(bob)]);
    await bob.replacePeers([{ ...peerOf(alice), allowedIps: [hosts()[2].inner] }]);

    expect(await alice.reaches(bob, { port: 7007, text: "spoofed" })).toBe(false);
    expect((await bob.peers())[0]?.session.state).toBe("up");
  });

  test("moves to another inner address without a new handshake", async () => {
    const [alice, bob, carol] = hosts();
    await introduce([alice, bob]);
    await alice.reaches(bob, { port: 7007, text: "before" });
    const spare = carol.inner;

    await alice.moveInner(spare);
    await bob.changePeers({ upserts: [{ ...peerOf(alice), allowedIps: [spare] }], removals: [] });

    expect(await alice.reaches(bob, { port: 7007, text: "after" })).toBe(true);
    expect((await alice.counters()).initiationsSent).toBe(1);
  });

  test("closing twice is fine, and a closed tunnel is silent", async () => {
    const [alice, bob] = hosts();
    await introduce([alice, bob]);
    await alice.reaches(bob, { port: 7007, text: "last words" });

    await bob.close();
    await bob.close();

    expect(await alice.reaches(bob, { port: 7007, text: "anybody?" })).toBe(false);
  });
}

async function introduce(hosts: readonly ContractHost[]): Promise<void> {
  await allowAll(hosts);
  for (const host of hosts) await host.replacePeers(hosts.filter((other) => other !== host).map(peerOf));
}

async function allowAll(hosts: readonly ContractHost[]): Promise<void> {
  for (const host of hosts) await host.replaceFilter([ALLOW_ALL]);
}

function peerOf(host: ContractHost): ContractPeer {
  return { publicKey: host.publicKey, allowedIps: [host.inner], endpoints: [host.endpoint], keepaliveSeconds: 0 };
}

function bytesFrom(counters: ContractCounters, host: ContractHost): number {
  return counters.rxBytes.find(({ publicKey }) => publicKey === host.publicKey)?.bytes ?? 0;
}

/** The rule that lets everything through. */
export const ALLOW_ALL: FilterRule = {
  id: 1,
  action: "allow",
  direction: "both",
  protocol: null,
  source: null,
  destination: null,
  ports: null,
};
