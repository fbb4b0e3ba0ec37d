import { decodeServerFrame, err, ok, type NetworkMap, type Result, applyDelta } from "@weft/protocol";

import type { MapReceiver } from "../daemon/map-receiver.ts";
import { readBounded, replaceFile, type FileError } from "./files.ts";

/**
 * The last map on disk: the frames exactly as the server signed and sent them, each with its length in front. Loading
 * runs them through a fresh receiver, so a stored map passes the same checks as a received one.
 */
export function saveMapFile(path: string, frames: readonly Uint8Array[]): Result<undefined, FileError> {
  const parts: Uint8Array[] = [MAGIC];
  for (const frame of frames) {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, frame.length, true);
    parts.push(length, frame);
  }
  return replaceFile(path, Buffer.concat(parts));
}

/** Feeds a stored map into a receiver and returns the map; the receiver continues from there. */
export function loadMapFile(path: string, receiver: MapReceiver): Result<NetworkMap, FileError> {
  const content = readBounded(path, FILE_BYTES_MAX);
  if (!content.ok) return content;
  const frames = splitFrames(content.value);
  let map: NetworkMap | null = null;
  for (const raw of frames ?? []) {
    const frame = decodeServerFrame(raw);
    const outcome = frame.ok ? receiver.handle(frame.value, raw) : null;
    if (!outcome || outcome.kind === "need") return err(damaged(path, outcome?.detail ?? "a frame does not decode"));
    if (outcome.kind === "snapshot") map = outcome.map;
    if (outcome.kind === "delta" && map) map = applyDelta(map, outcome.delta);
  }
  return map ? ok(map) : err(damaged(path, "it holds no whole map"));
}

function splitFrames(content: Buffer): Uint8Array[] | null {
  if (!content.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  const frames: Uint8Array[] = [];
  let offset = MAGIC.length;
  while (offset + 4 <= content.length) {
    const end = offset + 4 + content.readUInt32LE(offset);
    if (end > content.length) return null;
    frames.push(content.subarray(offset + 4, end));
    offset = end;
  }
  return offset === content.length ? frames : null;
}

function damaged(path: string, detail: string): FileError {
  return {
    code: "damaged",
    path,
    message: `the stored map ${path} is not usable (${detail}); a new one comes from the server`,
  };
}

const MAGIC = Buffer.from("weftmap1");
const FILE_BYTES_MAX = 128 * 1024 * 1024;
