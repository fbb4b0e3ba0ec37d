import { encodeServerFrame, type NetworkMap, type ServerFrame } from "@weft/protocol";
import { aNetworkMap, aPeer } from "@weft/protocol/testing";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test, afterEach } from "vitest";

import { verifyServerSignature } from "../state/identity.ts";
import { loadMapFile, saveMapFile } from "../state/map-file.ts";
import { aStateDirectory } from "../testing/fixtures.ts";
import { aServerIdentity, deltaFrame, snapshotFrames, withBytes } from "../testing/signing.ts";
import { inflateMap } from "./inflate.ts";
import { createMapReceiver, type MapOutcome, type MapReceiver } from "./map-receiver.ts";

const server = aServerIdentity(1);
const map = aNetworkMap(3);
const change = { upserts: [aPeer(9)], removals: [] };
const snapshot = (version = { epoch: 1n, sequence: 5n }, content: NetworkMap = map) =>
  snapshotFrames(server, content, version);
const receiver = (): MapReceiver =>
  createMapReceiver({ serverKey: server.serverKey, verify: verifyServerSignature, inflate: inflateMap });

function feed(target: MapReceiver, frames: readonly ServerFrame[]): MapOutcome {
  let last: MapOutcome = { kind: "wait" };
  for (const { frame, raw } of withBytes(frames)) last = target.handle(frame, raw);
  return last;
}

describe("the map stream", () => {
  test("AP-20 a snapshot arrives whole and gives the version", () => {
    const target = receiver();

    expect(feed(target, snapshot())).toEqual({ kind: "snapshot", map, version: { epoch: 1n, sequence: 5n } });
    expect(target.version()).toEqual({ epoch: 1n, sequence: 5n });
  });

  test("AP-20 a change before the first map asks for the map", () => {
    const early = deltaFrame(server, change, { epoch: 1n, baseSequence: 5n, sequence: 6n });

    expect(feed(receiver(), [early])).toMatchObject({ kind: "need", reason: "start" });
  });

  test("AP-21 changes that follow each other are applied", () => {
    const target = receiver();
    feed(target, snapshot());

    expect(feed(target, [deltaFrame(server, change, { epoch: 1n, baseSequence: 5n, sequence: 6n })])).toMatchObject({
      kind: "delta",
      delta: change,
    });
    expect(feed(target, [deltaFrame(server, change, { epoch: 1n, baseSequence: 6n, sequence: 9n })])).toMatchObject({
      kind: "delta",
      version: { sequence: 9n },
    });
  });

  test("AP-21 a change of an address set that the filter does not have asks for the map", () => {
    const [rule] = map.filter;
    if (!rule) throw new Error("the map has a rule");
    const numbered = { ...map, filter: [{ ...rule, source: [], sourceSet: 7 }] };
    const target = receiver();
    feed(target, snapshot({ epoch: 1n, sequence: 5n }, numbered));
    const changeOf = (set: number) => ({ upserts: [], removals: [], filterSets: [{ set, added: [], removed: [] }] });
    const [version, later] = [
      { epoch: 1n, baseSequence: 5n, sequence: 6n },
      { epoch: 1n, baseSequence: 6n, sequence: 7n },
    ];

    expect(feed(target, [deltaFrame(server, changeOf(7), version)])).toMatchObject({ kind: "delta" });
    expect(feed(target, [deltaFrame(server, changeOf(8), later)])).toMatchObject({ kind: "need", reason: "gap" });
    expect(target.version()).toEqual({ epoch: 1n, sequence: 6n });
  });

  test.each([
    { name: "a gap", version: { epoch: 1n, baseSequence: 6n, sequence: 7n } },
    { name: "a lower sequence", version: { epoch: 1n, baseSequence: 5n, sequence: 4n } },
    { name: "a repeated change", version: { epoch: 1n, baseSequence: 4n, sequence: 5n } },
    { name: "another epoch", version: { epoch: 2n, baseSequence: 5n, sequence: 6n } },
  ])("AP-21 $name asks for the map and changes nothing", ({ version }) => {
    const target = receiver();
    feed(target, snapshot());

    expect(feed(target, [deltaFrame(server, change, version)])).toMatchObject({ kind: "need", reason: "gap" });
    expect(target.version()).toEqual({ epoch: 1n, sequence: 5n });
  });

  test("AP-21 a damaged part is a hash mismatch", () => {
    const frames = snapshot().map((frame) =>
      frame.kind === "mapPart" ? { ...frame, bytes: frame.bytes.map((byte) => byte ^ 1) } : frame,
    );

    expect(feed(receiver(), frames)).toMatchObject({ kind: "need", reason: "hash" });
  });

  test("AP-31 a map or change that another key signed is refused", () => {
    const forger = aServerIdentity(2);
    const target = receiver();

    expect(feed(target, snapshotFrames(forger, map, { epoch: 1n, sequence: 5n }))).toMatchObject({
      kind: "need",
      reason: "hash",
    });
    expect(target.version()).toBeNull();
    feed(target, snapshot());
    expect(feed(target, [deltaFrame(forger, change, { epoch: 1n, baseSequence: 5n, sequence: 6n })])).toMatchObject({
      kind: "need",
      reason: "hash",
    });
  });

  test("AP-31 a signature does not fit another version", () => {
    const frames = snapshot().map((frame) => (frame.kind === "mapBegin" ? { ...frame, sequence: 6n } : frame));

    expect(feed(receiver(), frames)).toMatchObject({ kind: "need", reason: "hash" });
  });

  test("CP-1 an older map of the same epoch is asked for twice, then the server has the last word", () => {
    const target = receiver();
    feed(target, snapshot({ epoch: 1n, sequence: 9n }));

    expect(feed(target, snapshot({ epoch: 1n, sequence: 3n }))).toMatchObject({ kind: "need", reason: "gap" });
    expect(feed(target, snapshot({ epoch: 1n, sequence: 3n }))).toMatchObject({
      kind: "snapshot",
      version: { sequence: 3n },
    });
  });

  test("AP-21 a new epoch may start low", () => {
    const target = receiver();
    feed(target, snapshot({ epoch: 1n, sequence: 9n }));

    expect(feed(target, snapshot({ epoch: 2n, sequence: 1n }))).toMatchObject({
      kind: "snapshot",
      version: { epoch: 2n, sequence: 1n },
    });
  });

  test("a snapshot that a lost stream cut off is forgotten", () => {
    const target = receiver();
    const [begin, , ...rest] = snapshot();
    feed(target, [begin!]);
    target.streamEnded();

    expect(feed(target, rest)).toMatchObject({ kind: "need" });
    expect(feed(target, snapshot())).toMatchObject({ kind: "snapshot" });
  });

  test("a body that decompresses to more than announced is refused", () => {
    const frames = snapshot().map((frame) => (frame.kind === "mapBegin" ? { ...frame, bodyBytes: 10 } : frame));

    expect(feed(receiver(), frames)).toMatchObject({ kind: "need", reason: "hash" });
  });

  test("asks for a fresh map when the changes have grown longer than one", () => {
    const target = receiver();
    feed(target, snapshot());
    expect(target.wantsCompaction()).toBe(false);

    for (let sequence = 6n; sequence < 1_010n; sequence += 1n)
      feed(target, [
        deltaFrame(server, { upserts: [], removals: [] }, { epoch: 1n, baseSequence: sequence - 1n, sequence }),
      ]);

    expect(target.wantsCompaction()).toBe(true);
    feed(target, snapshot({ epoch: 1n, sequence: 1_010n }));
    expect(target.wantsCompaction()).toBe(false);
  });
});

describe("the stored map", () => {
  let remove = (): void => {};
  afterEach(() => remove());
  const place = (): string => {
    const state = aStateDirectory();
    remove = state.remove;
    return state.paths.map;
  };
  const stored = (path: string): MapReceiver => {
    const target = receiver();
    feed(target, snapshot());
    feed(target, [deltaFrame(server, change, { epoch: 1n, baseSequence: 5n, sequence: 6n })]);
    expect(saveMapFile(path, target.signedFrames()).ok).toBe(true);
    return target;
  };

  test("AP-48 comes back as it was, and the stream continues from it", () => {
    const path = place();
    stored(path);

    const again = receiver();
    const loaded = loadMapFile(path, again);

    expect(loaded).toMatchObject({ ok: true, value: { peers: [...map.peers, aPeer(9)] } });
    expect(again.version()).toEqual({ epoch: 1n, sequence: 6n });
    expect(feed(again, [deltaFrame(server, change, { epoch: 1n, baseSequence: 6n, sequence: 7n })])).toMatchObject({
      kind: "delta",
    });
  });

  test("AP-48 its signature is checked at load", () => {
    const path = place();
    const forged = snapshotFrames(aServerIdentity(2), map, { epoch: 1n, sequence: 5n });
    saveMapFile(path, forged.map(encodeServerFrame));

    expect(loadMapFile(path, receiver())).toMatchObject({ ok: false, error: { code: "damaged" } });
  });

  test("AP-48 any cut and any changed byte gives an error that names the file, never a crash or a wrong map", () => {
    const path = place();
    stored(path);
    const whole = readFileSync(path);

    for (let index = 0; index < whole.length; index += 7) {
      const changed = Buffer.from(whole);
      changed[index] = (changed[index] ?? 0) ^ 0x55;
      writeFileSync(path, changed);
      const loaded = loadMapFile(path, receiver());
      expect(loaded.ok ? "a map" : loaded.error.message, `byte ${index}`).toContain(path);
    }
    for (const length of [0, 4, 8, 12, whole.length - 1]) {
      writeFileSync(path, whole.subarray(0, length));
      expect(loadMapFile(path, receiver())).toMatchObject({ ok: false, error: { code: "damaged" } });
    }
  });

  test("one that is not there is missing, not damaged", () => {
    expect(loadMapFile(place(), receiver())).toMatchObject({ ok: false, error: { code: "missing" } });
  });
});
