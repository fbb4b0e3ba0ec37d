import { sha256 } from "@noble/hashes/sha2.js";

import { equalBytes } from "./bytes.ts";
import {
  MAP_PART_BYTES_MAX,
  type MapBeginFrame,
  type MapCompression,
  type MapEndFrame,
  type MapPartFrame,
} from "./frames.ts";
import type { MapVersion } from "./network-map.ts";
import { err, ok, type Result } from "./result.ts";
import { MAP_BODY_BYTES_MAX } from "./wire/map-body.ts";

/** A snapshot as it is sent: the body possibly compressed by the caller (deflate level 1; this package has no zlib). */
export type MapTransfer = MapVersion & {
  readonly timeMs: number;
  readonly compression: MapCompression;
  /** Length before compression. */
  readonly bodyBytes: number;
  /** The body as sent. */
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
};

/** Why the parts of a snapshot do not make a snapshot. */
export type TransferError =
  | { readonly code: "unexpected_frame"; readonly detail: string }
  | { readonly code: "hash_mismatch" }
  | { readonly code: "too_large"; readonly bytes: number; readonly bytesMax: number };

/** The frames of a snapshot, in order: begin, parts of at most 256 KiB, end with a hash over all parts. */
export function splitMap(transfer: MapTransfer): (MapBeginFrame | MapPartFrame | MapEndFrame)[] {
  const { epoch, sequence, compression, bodyBytes, bytes, timeMs, signature } = transfer;
  const partCount = Math.ceil(bytes.length / MAP_PART_BYTES_MAX);
  const parts = Array.from({ length: partCount }, (_, index): MapPartFrame => {
    const start = index * MAP_PART_BYTES_MAX;
    return { kind: "mapPart", index, bytes: bytes.subarray(start, start + MAP_PART_BYTES_MAX) };
  });
  return [
    { kind: "mapBegin", epoch, sequence, compression, bodyBytes, partCount },
    ...parts,
    { kind: "mapEnd", timeMs, partsHash: sha256(bytes), signature },
  ];
}

/** Collects the parts of one snapshot at a time. */
export type MapAssembler = {
  readonly begin: (frame: MapBeginFrame) => Result<undefined, TransferError>;
  readonly part: (frame: MapPartFrame) => Result<undefined, TransferError>;
  /** Ends the transfer whatever the outcome. */
  readonly end: (frame: MapEndFrame) => Result<MapTransfer, TransferError>;
  readonly reset: () => void;
};

/** Makes an assembler; memory is bounded by the largest map body. A new `begin` drops an unfinished transfer. */
export function createMapAssembler(): MapAssembler {
  let open: { readonly head: MapBeginFrame; readonly parts: Uint8Array[]; received: number } | null = null;
  return {
    begin(frame) {
      open = null;
      const partsMax = Math.ceil(MAP_BODY_BYTES_MAX / MAP_PART_BYTES_MAX);
      if (frame.bodyBytes > MAP_BODY_BYTES_MAX || frame.partCount > partsMax) {
        return err({ code: "too_large", bytes: frame.bodyBytes, bytesMax: MAP_BODY_BYTES_MAX });
      }
      open = { head: frame, parts: [], received: 0 };
      return ok(undefined);
    },
    part(frame) {
      if (!open || frame.index !== open.parts.length || frame.index >= open.head.partCount) {
        const expected = open ? open.parts.length : "none";
        open = null;
        return err({ code: "unexpected_frame", detail: `part ${frame.index}, expected ${expected}` });
      }
      open.received += frame.bytes.length;
      open.parts.push(frame.bytes);
      return ok(undefined);
    },
    end(frame) {
      const transfer = open;
      open = null;
      if (!transfer || transfer.parts.length !== transfer.head.partCount) {
        return err({ code: "unexpected_frame", detail: `end after ${transfer?.parts.length ?? 0} parts` });
      }
      const bytes = join(transfer.parts, transfer.received);
      if (!equalBytes(sha256(bytes), frame.partsHash)) return err({ code: "hash_mismatch" });
      const { epoch, sequence, compression, bodyBytes } = transfer.head;
      return ok({ epoch, sequence, compression, bodyBytes, bytes, timeMs: frame.timeMs, signature: frame.signature });
    },
    reset() {
      open = null;
    },
  };
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
