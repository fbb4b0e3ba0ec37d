import { viewOf } from "./handshake/bytes.ts";

/** Our session indices: unpredictable, unique over all peers, each pointing to its owner. */
export type IndexTable<Owner> = {
  /** Draws an index nobody has. */
  readonly allocate: (owner: Owner) => number;
  readonly get: (index: number) => Owner | undefined;
  readonly release: (index: number) => void;
  readonly size: () => number;
};

export function createIndexTable<Owner>(random: (byteCount: number) => Uint8Array): IndexTable<Owner> {
  const owners = new Map<number, Owner>();
  return {
    allocate(owner) {
      let index = 0;
      do {
        index = viewOf(random(INDEX_BYTES)).getUint32(0, true);
      } while (index === 0 || owners.has(index));
      owners.set(index, owner);
      return index;
    },
    get: (index) => owners.get(index),
    release: (index) => void owners.delete(index),
    size: () => owners.size,
  };
}

const INDEX_BYTES = 4;
