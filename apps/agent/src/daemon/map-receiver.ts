import {
  createMapAssembler,
  decodeDeltaBody,
  decodeMapBody,
  deltaSigningBytes,
  err,
  mapSigningBytes,
  ok,
  setNumbersOf,
  type DeltaFrame,
  type MapDelta,
  type MapTransfer,
  type MapVersion,
  type NeedMapReason,
  type NetworkMap,
  type Result,
  type ServerFrame,
  type ServerKey,
} from "@weft/protocol";

/** What a frame of the map stream turned out to be. */
export type MapOutcome =
  | { readonly kind: "snapshot"; readonly map: NetworkMap; readonly version: MapVersion }
  | { readonly kind: "delta"; readonly delta: MapDelta; readonly version: MapVersion }
  /** Nothing to apply; ask the server for the whole map. */
  | { readonly kind: "need"; readonly reason: NeedMapReason; readonly detail: string }
  | { readonly kind: "wait" };

export type MapReceiverDeps = {
  readonly serverKey: ServerKey;
  readonly verify: (serverKey: ServerKey, bytes: Uint8Array, signature: Uint8Array) => boolean;
  /** Decompresses to at most that many bytes; `null` when the input is damaged or longer. */
  readonly inflate: (bytes: Uint8Array, bytesMax: number) => Uint8Array | null;
};

/**
 * Follows one map stream: checks order, hashes and signatures, and keeps the signed frames that lead to the present
 * map, so that they can be stored and checked again at the next start.
 */
export type MapReceiver = {
  /** `raw` is the encoded frame. */
  readonly handle: (frame: ServerFrame, raw: Uint8Array) => MapOutcome;
  readonly version: () => MapVersion | null;
  /** The encoded frames of the present map: one snapshot and the deltas behind it. */
  readonly signedFrames: () => readonly Uint8Array[];
  /** Tells whether the changes behind the snapshot have become longer than a new snapshot would be. */
  readonly wantsCompaction: () => boolean;
  /** Forgets an unfinished transfer; the present map stays. */
  readonly streamEnded: () => void;
};

export function createMapReceiver(deps: MapReceiverDeps): MapReceiver {
  const assembler = createMapAssembler();
  let version: MapVersion | null = null;
  let snapshotFrames: Uint8Array[] = [];
  let deltaFrames: Uint8Array[] = [];
  let arriving: Uint8Array[] = [];
  let staleSnapshots = 0;
  /** Sets of the present filter that a change may name. */
  let setNumbers: ReadonlySet<number> = new Set();

  const takeSnapshot = (transfer: MapTransfer): MapOutcome => {
    const opened = openSnapshot(deps, transfer);
    if (!opened.ok) return { kind: "need", reason: "hash", detail: opened.error };
    if (version && version.epoch === transfer.epoch && transfer.sequence < version.sequence && staleSnapshots === 0) {
      // An old map may be a replay; a server that insists has the last word.
      staleSnapshots += 1;
      return { kind: "need", reason: "gap", detail: `sequence ${transfer.sequence} is behind ${version.sequence}` };
    }
    staleSnapshots = 0;
    version = { epoch: transfer.epoch, sequence: transfer.sequence };
    setNumbers = setNumbersOf(opened.value.filter);
    snapshotFrames = arriving;
    deltaFrames = [];
    return { kind: "snapshot", map: opened.value, version };
  };

  const takeDelta = (frame: DeltaFrame, raw: Uint8Array): MapOutcome => {
    if (!version) return { kind: "need", reason: "start", detail: "a change came before the first map" };
    if (
      frame.epoch !== version.epoch ||
      frame.baseSequence !== version.sequence ||
      frame.sequence <= version.sequence
    ) {
      return {
        kind: "need",
        reason: "gap",
        detail: `change ${frame.baseSequence} → ${frame.sequence} does not follow ${version.sequence}`,
      };
    }
    if (!deps.verify(deps.serverKey, deltaSigningBytes(frame), frame.signature)) {
      return { kind: "need", reason: "hash", detail: "the signature of a change is wrong" };
    }
    const delta = decodeDeltaBody(frame.body);
    if (!delta.ok)
      return { kind: "need", reason: "hash", detail: `a change does not decode: ${JSON.stringify(delta.error)}` };
    const unknown = delta.value.filterSets?.find(({ set }) => !setNumbers.has(set));
    if (unknown)
      return { kind: "need", reason: "gap", detail: `a change of address set ${unknown.set}, which is not here` };
    if (delta.value.filter) setNumbers = setNumbersOf(delta.value.filter);
    version = { epoch: frame.epoch, sequence: frame.sequence };
    deltaFrames.push(Uint8Array.from(raw));
    return { kind: "delta", delta: delta.value, version };
  };

  return {
    handle(frame, raw) {
      if (frame.kind === "delta") return takeDelta(frame, raw);
      if (frame.kind === "mapBegin") {
        arriving = [Uint8Array.from(raw)];
        const begun = assembler.begin(frame);
        return begun.ok ? { kind: "wait" } : { kind: "need", reason: "hash", detail: begun.error.code };
      }
      if (frame.kind === "mapPart") {
        arriving.push(Uint8Array.from(raw));
        const taken = assembler.part(frame);
        return taken.ok ? { kind: "wait" } : { kind: "need", reason: "hash", detail: taken.error.code };
      }
      if (frame.kind !== "mapEnd") return { kind: "wait" };
      arriving.push(Uint8Array.from(raw));
      const transfer = assembler.end(frame);
      return transfer.ok ? takeSnapshot(transfer.value) : { kind: "need", reason: "hash", detail: transfer.error.code };
    },
    version: () => version,
    signedFrames: () => [...snapshotFrames, ...deltaFrames],
    wantsCompaction() {
      const deltaBytes = bytesIn(deltaFrames);
      return deltaFrames.length > DELTAS_MAX || deltaBytes > Math.max(DELTA_BYTES_FREE, 2 * bytesIn(snapshotFrames));
    },
    streamEnded() {
      assembler.reset();
      arriving = [];
    },
  };
}

function openSnapshot(deps: MapReceiverDeps, transfer: MapTransfer): Result<NetworkMap, string> {
  const body = transfer.compression === "none" ? transfer.bytes : deps.inflate(transfer.bytes, transfer.bodyBytes);
  if (!body || body.length !== transfer.bodyBytes) return err("the map does not decompress to the announced length");
  if (!deps.verify(deps.serverKey, mapSigningBytes({ ...transfer, body }), transfer.signature))
    return err("the signature of the map is wrong");
  const map = decodeMapBody(body);
  return map.ok ? ok(map.value) : err(`the map does not decode: ${JSON.stringify(map.error)}`);
}

function bytesIn(frames: readonly Uint8Array[]): number {
  return frames.reduce((total, raw) => total + raw.length, 0);
}

const DELTAS_MAX = 1000;
const DELTA_BYTES_FREE = 256 * 1024;
