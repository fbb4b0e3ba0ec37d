import { spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { aServerKey, countingRandom, mustBe } from "@weft/protocol/testing";
import { publicKeyOf } from "@weft/dataplane";
import { keyBytes, peerIds } from "@weft/protocol";
import { createPublicKey, verify } from "node:crypto";

import { aStateDirectory } from "../testing/fixtures.ts";
import { replaceFile } from "./files.ts";
import { identityFrom, makeIdentity, signWithIdentity, verifyServerSignature } from "./identity.ts";
import { acquireLock, lockHolder } from "./lock.ts";
import { createStateStore, isInterfaceName, type Membership, type StateStore } from "./state-store.ts";

let state: ReturnType<typeof aStateDirectory>;
let store: StateStore;
beforeEach(() => {
  state = aStateDirectory();
  store = createStateStore(state.paths);
});
afterEach(() => state.remove());

const membership: Membership = {
  serverUrl: "https://weft.example",
  serverKey: aServerKey(1),
  peerId: peerIds.make(countingRandom(1)),
  interfaceName: "weft0",
  listenPort: 51_820,
};

describe("identity", () => {
  test("D9 CP-ID1 a new node has two different random key pairs", () => {
    const first = makeIdentity();
    const second = makeIdentity();

    expect(new Set([first.identityKey, first.publicKey, second.identityKey, second.publicKey]).size).toBe(4);
  });

  test("the same private keys give the same node", () => {
    const made = makeIdentity();
    const again = identityFrom(made.identitySeed.expose(), made.wireguardKey.expose());

    expect([again.identityKey, again.publicKey]).toEqual([made.identityKey, made.publicKey]);
  });

  test("the data plane derives the same WireGuard key", () => {
    const identity = makeIdentity();

    expect(publicKeyOf(identity.wireguardKey)).toBe(identity.publicKey);
  });

  test("signatures are those of the identity key", () => {
    const identity = makeIdentity();
    const bytes = Uint8Array.of(1, 2, 3);
    const signature = signWithIdentity(identity, bytes);
    const key = createPublicKey({
      key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(keyBytes(identity.identityKey)).toString("base64url") },
      format: "jwk",
    });

    expect(verify(null, bytes, key, signature)).toBe(true);
    expect(verifyServerSignature(aServerKey(1), bytes, signature)).toBe(false);
  });
});

describe("state on disk", () => {
  test("identity and membership come back", () => {
    const identity = mustBe(store.ensureIdentity());
    mustBe(store.saveMembership(membership));

    expect(mustBe(createStateStore(state.paths).ensureIdentity()).identityKey).toBe(identity.identityKey);
    expect(mustBe(store.loadMembership())).toEqual(membership);
  });

  test("SEC-1 every file is readable by its owner only", () => {
    mustBe(store.ensureIdentity());
    mustBe(store.saveMembership(membership));
    mustBe(store.saveTraces({ interfaceName: "weft0" }));

    const modes = readdirSync(state.paths.directory).map((name) => [
      name,
      statSync(`${state.paths.directory}/${name}`).mode & 0o777,
    ]);
    expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([]);
    expect(modes).toHaveLength(3);
    expect(statSync(state.paths.directory).mode & 0o777).toBe(0o700);
  });

  test("AP-48 a file is replaced in one step and leaves no draft", () => {
    mustBe(replaceFile(state.paths.map, "old"));
    mustBe(replaceFile(state.paths.map, "new"));

    expect(readFileSync(state.paths.map, "utf8")).toBe("new");
    expect(readdirSync(state.paths.directory)).toEqual(["map.bin"]);
  });

  test.each([
    { name: "cut", content: '{"version":1,"identity' },
    { name: "empty", content: "" },
    { name: "another version", content: '{"version":2}' },
    { name: "wrong fields", content: '{"version":1,"identitySeed":"AAAA","wireguardKey":"AAAA"}' },
    { name: "not an object", content: "[]" },
  ])("a damaged identity ($name) is a clear error and is not overwritten", ({ content }) => {
    writeFileSync(state.paths.identity, content);

    const loaded = store.ensureIdentity();

    expect(loaded).toMatchObject({ ok: false, error: { code: "damaged" } });
    expect(loaded.ok ? "" : loaded.error.message).toContain(state.paths.identity);
    expect(readFileSync(state.paths.identity, "utf8")).toBe(content);
  });

  test("AP-85 a host that never joined has no membership", () => {
    expect(store.loadMembership()).toMatchObject({ ok: false, error: { code: "missing" } });
  });

  test("wiping leaves nothing of the node", () => {
    mustBe(store.ensureIdentity());
    mustBe(store.saveMembership(membership));
    mustBe(replaceFile(state.paths.map, "map"));

    mustBe(store.wipe());

    expect(readdirSync(state.paths.directory)).toEqual([]);
  });

  test.each(["", "../x", "weft 0", "-x", "a/b", "abcdefghijklmnop", "x;y", "x\n"])(
    "SEC-57 %j is no interface name",
    (name) => {
      expect(isInterfaceName(name)).toBe(false);
    },
  );
});

describe("the lock", () => {
  test("a second daemon on the same state is refused with the first one's process id", () => {
    const lock = mustBe(acquireLock(state.paths.lock));

    expect(acquireLock(state.paths.lock)).toMatchObject({ ok: false, error: { code: "held", pid: process.pid } });
    expect(lockHolder(state.paths.lock)).toBe(process.pid);
    lock.release();
    expect(lockHolder(state.paths.lock)).toBeNull();
    expect(acquireLock(state.paths.lock).ok).toBe(true);
  });

  test("the lock of a process that was killed blocks nobody", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await once(child, "spawn");
    const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
    writeFileSync(state.paths.lock, `${child.pid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}\n`);
    expect(acquireLock(state.paths.lock)).toMatchObject({ error: { code: "held", pid: child.pid } });

    child.kill("SIGKILL");
    await once(child, "exit");

    expect(acquireLock(state.paths.lock).ok).toBe(true);
    expect(readdirSync(state.paths.directory)).toEqual(["daemon.lock"]);
  });

  test("a process that got the dead holder's id does not count as the holder", () => {
    writeFileSync(state.paths.lock, `${process.pid} 1\n`);

    expect(acquireLock(state.paths.lock).ok).toBe(true);
  });

  test("a damaged lock file blocks nobody", () => {
    writeFileSync(state.paths.lock, "");

    expect(acquireLock(state.paths.lock).ok).toBe(true);
  });
});
