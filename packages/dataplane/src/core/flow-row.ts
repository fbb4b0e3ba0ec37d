/** Columns of a flow row, in the order of the engine. */
export const FLOW_COLUMNS = [
  "position",
  "peer",
  "family",
  "protocol",
  "localHigh",
  "localLow",
  "remoteHigh",
  "remoteLow",
  "ports",
  "localPort",
  "remotePort",
  "began",
  "verdict",
  "rulePlusOne",
  "rxPackets",
  "rxBytes",
  "txPackets",
  "txBytes",
  "drops",
  "ageMs",
  "idleMs",
  "flow",
  "ended",
] as const;

export type FlowColumn = (typeof FLOW_COLUMNS)[number];

/** An address as the two words of a row: IPv4 in the low half of the second. */
export function wordsOf(address: Uint8Array): readonly [bigint, bigint] {
  const bits = address.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return [bits >> 64n, bits & WORD];
}

const WORD = (1n << 64n) - 1n;
