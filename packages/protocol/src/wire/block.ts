import {
  endpointOf,
  endpointParts,
  ipFromBytes,
  ipToBytes,
  prefixOf,
  prefixParts,
  type Endpoint,
  type Prefix,
} from "../addresses.ts";
import { concatBytes } from "../bytes.ts";
import { FieldError, parsed } from "./checks.ts";

/** Lists of lists as two columns: how many each row has, and all entries one after the other. */
export type Ragged = { readonly counts: number[]; readonly bytes: Uint8Array };

export function packEndpoints(rows: readonly (readonly Endpoint[])[]): Ragged {
  return pack(rows, (endpoint) => {
    const { address, port } = endpointParts(endpoint);
    const bytes = ipToBytes(address);
    return concatBytes([Uint8Array.of(bytes.length === 4 ? 4 : 6), bytes, Uint8Array.of(port >> 8, port & 255)]);
  });
}

export function unpackEndpoints(field: string, block: Ragged): Endpoint[][] {
  return unpack(field, block, (reader) => {
    const address = parsed(field, ipFromBytes(reader.take(reader.familyBytes())));
    const port = reader.take(2);
    return parsed(field, endpointOf(address, (port[0] ?? 0) * 256 + (port[1] ?? 0)));
  });
}

export function packPrefixes(rows: readonly (readonly Prefix[])[]): Ragged {
  return pack(rows, (prefix) => {
    const { address, length } = prefixParts(prefix);
    const bytes = ipToBytes(address);
    return concatBytes([Uint8Array.of(bytes.length === 4 ? 4 : 6, length), bytes]);
  });
}

/** `rowMax` entries of one row are taken. */
export function unpackPrefixes(field: string, block: Ragged, rowMax = ENTRIES_PER_ROW_MAX): Prefix[][] {
  const { counts, bytes } = block;
  return unpack(field, { counts, bytes, rowMax }, (reader) => {
    const width = reader.familyBytes();
    const [length = 0] = reader.take(1);
    const address = parsed(field, ipFromBytes(reader.take(width)));
    return parsed(field, prefixOf(address, length));
  });
}

type Reader = { readonly take: (length: number) => Uint8Array; readonly familyBytes: () => number };

function pack<T>(rows: readonly (readonly T[])[], encode: (entry: T) => Uint8Array): Ragged {
  return { counts: rows.map((row) => row.length), bytes: concatBytes(rows.flatMap((row) => row.map(encode))) };
}

function unpack<T>(field: string, block: Ragged & { readonly rowMax?: number }, decode: (reader: Reader) => T): T[][] {
  const { rowMax = ENTRIES_PER_ROW_MAX } = block;
  let offset = 0;
  const take = (length: number): Uint8Array => {
    if (offset + length > block.bytes.length) throw new FieldError(field, `ends after ${block.bytes.length} bytes`);
    offset += length;
    return block.bytes.subarray(offset - length, offset);
  };
  const familyBytes = (): number => {
    const [family] = take(1);
    if (family === 4) return 4;
    if (family === 6) return 16;
    throw new FieldError(field, `address family ${family}`);
  };
  const rows = block.counts.map((count) => {
    const row: T[] = [];
    if (count > rowMax) throw new FieldError(field, `${count} entries in one row`);
    for (let entry = 0; entry < count; entry += 1) row.push(decode({ take, familyBytes }));
    return row;
  });
  if (offset !== block.bytes.length) throw new FieldError(field, `${block.bytes.length - offset} bytes left over`);
  return rows;
}

/** More endpoints or networks of one peer than this are refused. */
const ENTRIES_PER_ROW_MAX = 256;
