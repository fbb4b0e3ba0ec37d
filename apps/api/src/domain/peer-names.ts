import { NAME_LENGTH_MAX, peerNameFrom } from "@weft/protocol";

/** True for names that mean something else inside every network, so no peer ever gets them. */
export function isReservedName(name: string): boolean {
  return RESERVED.has(name);
}

/** Names to try for a host, best first: the label itself, then numbered ones. */
export function* nameCandidates(hostname: string): Generator<string> {
  const label = peerNameFrom(hostname);
  if (!isReservedName(label)) yield label;
  for (let number = 2; ; number += 1) yield numbered(label, number);
}

/** The label with a number, cut so that it stays a label. */
function numbered(label: string, number: number): string {
  const suffix = `-${number}`;
  return label.slice(0, NAME_LENGTH_MAX - suffix.length).replace(/-+$/, "") + suffix;
}

const RESERVED: ReadonlySet<string> = new Set([
  "localhost",
  "local",
  "weft",
  "gateway",
  "broadcasthost",
  "wpad",
  "isatap",
  "any",
  "all",
  "self",
]);
