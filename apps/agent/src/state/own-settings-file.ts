import { decodeMapBody, encodeMapBody, type Result } from "@weft/protocol";

import type { OwnSettings } from "../daemon/own-settings.ts";
import { readBounded, replaceFile, type FileError } from "./files.ts";

/** Keeps the own settings with which the server was reached last, as a map without a policy. */
export function saveOwnSettings(path: string, { self, routers, names }: OwnSettings): Result<undefined, FileError> {
  return replaceFile(path, encodeMapBody({ self, peers: routers, filter: [], ...(names && { names }) }));
}

/** `null` when there are none, or none that can be read: then there is nothing to go back to. */
export function loadOwnSettings(path: string): OwnSettings | null {
  const content = readBounded(path, FILE_BYTES_MAX);
  const map = content.ok ? decodeMapBody(content.value) : content;
  return map.ok ? { self: map.value.self, routers: map.value.peers, names: map.value.names ?? null } : null;
}

const FILE_BYTES_MAX = 16 * 1024 * 1024;
