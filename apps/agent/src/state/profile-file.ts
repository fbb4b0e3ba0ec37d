import {
  err,
  fromBase64,
  isPublicKey,
  linkProfileFromBytes,
  linkProfileToBytes,
  ok,
  toBase64,
  type LinkProfile,
  type PublicKey,
  type Result,
} from "@weft/protocol";

import { readBounded, replaceFile, type FileError } from "./files.ts";

/** What the map wants with a peer, and what it wanted before; null = plain WireGuard. */
export type ProfileChange = { readonly wanted: LinkProfile | null; readonly before: LinkProfile | null };

/** Changes of profiles that were not seen working yet, by the peer's key. */
export type ProfileChanges = ReadonlyMap<PublicKey, ProfileChange>;

/** Stores all changes in one step. */
export function saveProfileFile(path: string, changes: ProfileChanges): Result<undefined, FileError> {
  const peers = [...changes].map(([key, { wanted, before }]) => [key, textOf(wanted), textOf(before)]);
  return replaceFile(path, `${JSON.stringify({ version: 1, peers })}\n`);
}

/** Reads what was stored. The file is ours alone, like the private key beside it; still nothing in it is taken unread. */
export function loadProfileFile(path: string): Result<ProfileChanges, FileError> {
  const content = readBounded(path, FILE_BYTES_MAX);
  if (!content.ok) return content.error.code === "missing" ? ok(new Map()) : content;
  const changes = changesFrom(parse(content.value.toString("utf8")));
  if (changes) return ok(changes);
  const message = `${path} is damaged; peers that have not heard of a new link profile are out of reach until the server is back`;
  return err({ code: "damaged", path, message });
}

function changesFrom(record: unknown): ProfileChanges | null {
  if (typeof record !== "object" || record === null || !("version" in record) || record.version !== 1) return null;
  if (!("peers" in record) || !Array.isArray(record.peers)) return null;
  const changes = new Map<PublicKey, ProfileChange>();
  for (const row of record.peers as readonly unknown[]) {
    if (!Array.isArray(row) || row.length !== 3) return null;
    const [key, wantedText, beforeText] = row as readonly unknown[];
    const [wanted, before] = [profileFrom(wantedText), profileFrom(beforeText)];
    if (!isPublicKey(key) || wanted === undefined || before === undefined) return null;
    changes.set(key, { wanted, before });
  }
  return changes;
}

function textOf(profile: LinkProfile | null): string | null {
  return profile && toBase64(linkProfileToBytes(profile));
}

function profileFrom(text: unknown): LinkProfile | null | undefined {
  if (text === null) return null;
  const bytes = typeof text === "string" ? fromBase64(text) : null;
  const profile = bytes?.ok ? linkProfileFromBytes(bytes.value) : null;
  return profile?.ok ? profile.value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Room for every peer that an engine can hold. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;
