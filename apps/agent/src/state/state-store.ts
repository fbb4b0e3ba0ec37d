import {
  err,
  fromBase64,
  isServerKey,
  ok,
  peerIds,
  toBase64,
  type PeerId,
  type Result,
  type ServerKey,
} from "@weft/protocol";

import { parseServerUrl } from "../settings/server-url.ts";
import type { StatePaths } from "../settings/paths.ts";
import { makeDirectory, readBounded, removeFile, replaceFile, type FileError } from "./files.ts";
import { identityFrom, makeIdentity, type Identity } from "./identity.ts";

/** To whom this node belongs and how its tunnel is set up locally. */
export type Membership = {
  readonly serverUrl: string;
  readonly serverKey: ServerKey;
  readonly peerId: PeerId;
  readonly interfaceName: string;
  /** Wished UDP port. */
  readonly listenPort: number;
};

/** What the daemon made in the system, to be cleared away after a crash. */
type RuntimeTraces = { readonly interfaceName: string };

/** Identity, membership and traces on disk; every file is private and replaced in one step. */
export type StateStore = {
  readonly paths: StatePaths;
  readonly loadIdentity: () => Result<Identity, FileError>;
  /** Makes a new identity when there is none. */
  readonly ensureIdentity: () => Result<Identity, FileError>;
  readonly loadMembership: () => Result<Membership, FileError>;
  readonly saveMembership: (membership: Membership) => Result<undefined, FileError>;
  readonly loadTraces: () => Result<RuntimeTraces, FileError>;
  readonly saveTraces: (traces: RuntimeTraces) => Result<undefined, FileError>;
  readonly clearTraces: () => Result<undefined, FileError>;
  /** Forgets everything: the node is nobody afterwards. */
  readonly wipe: () => Result<undefined, FileError>;
};

export function createStateStore(paths: StatePaths): StateStore {
  const loadIdentity = (): Result<Identity, FileError> => readRecord(paths.identity, identityFromRecord);
  return {
    paths,
    loadIdentity,
    ensureIdentity() {
      const known = loadIdentity();
      if (known.ok || known.error.code !== "missing") return known;
      const identity = makeIdentity();
      const made = makeDirectory(paths.directory);
      const saved = made.ok ? writeRecord(paths.identity, identityToRecord(identity)) : made;
      return saved.ok ? ok(identity) : saved;
    },
    loadMembership: () => readRecord(paths.membership, membershipFromRecord),
    saveMembership: (membership) => writeRecord(paths.membership, { version: 1, ...membership }),
    loadTraces: () =>
      readRecord(paths.runtime, ({ interfaceName }) => (isInterfaceName(interfaceName) ? { interfaceName } : null)),
    saveTraces: (traces) => writeRecord(paths.runtime, { version: 1, ...traces }),
    clearTraces: () => removeFile(paths.runtime),
    wipe() {
      for (const path of [
        paths.membership,
        paths.map,
        paths.profiles,
        paths.ownSettings,
        paths.identity,
        paths.runtime,
      ]) {
        const removed = removeFile(path);
        if (!removed.ok) return removed;
      }
      return ok(undefined);
    },
  };
}

/** Tells whether Linux takes a text as an interface name and no shell or file path can misread it. */
export function isInterfaceName(text: unknown): text is string {
  return typeof text === "string" && /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,14}$/.test(text);
}

type StoredRecord = { readonly [key: string]: unknown };

function identityToRecord(identity: Identity): StoredRecord {
  return {
    version: 1,
    identitySeed: toBase64(identity.identitySeed.expose()),
    wireguardKey: toBase64(identity.wireguardKey.expose()),
  };
}

function identityFromRecord({ identitySeed, wireguardKey }: StoredRecord): Identity | null {
  const seed = typeof identitySeed === "string" ? fromBase64(identitySeed) : null;
  const key = typeof wireguardKey === "string" ? fromBase64(wireguardKey) : null;
  if (!seed?.ok || !key?.ok || seed.value.length !== 32 || key.value.length !== 32) return null;
  return identityFrom(seed.value, key.value);
}

function membershipFromRecord({
  serverUrl,
  serverKey,
  peerId,
  interfaceName,
  listenPort,
}: StoredRecord): Membership | null {
  if (typeof serverUrl !== "string" || !parseServerUrl(serverUrl).ok) return null;
  if (!isServerKey(serverKey) || !peerIds.is(peerId) || !isInterfaceName(interfaceName)) return null;
  if (typeof listenPort !== "number" || !Number.isInteger(listenPort) || listenPort < 0 || listenPort > 65_535)
    return null;
  return { serverUrl, serverKey, peerId, interfaceName, listenPort };
}

function readRecord<T>(path: string, convert: (record: StoredRecord) => T | null): Result<T, FileError> {
  const content = readBounded(path, RECORD_BYTES_MAX);
  if (!content.ok) return content;
  const record = parseObject(content.value.toString("utf8"));
  const value = record?.["version"] === 1 ? convert(record) : null;
  if (value !== null) return ok(value);
  const message = `${path} is damaged or from another version. Restore it from a backup, or run "weft leave --force" and join again`;
  return err({ code: "damaged", path, message });
}

function writeRecord(path: string, record: StoredRecord): Result<undefined, FileError> {
  return replaceFile(path, `${JSON.stringify(record, null, 2)}\n`);
}

function parseObject(text: string): StoredRecord | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** Tells whether a value is an object with string keys. */
export function isRecord(value: unknown): value is StoredRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const RECORD_BYTES_MAX = 64 * 1024;
