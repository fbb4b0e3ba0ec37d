import { PLAIN_KINDS } from "../../harness/plain-wireguard.ts";
import type { Contender } from "./contender.ts";
import { plainContender } from "./plain.ts";
import { rawVeth } from "./raw-veth.ts";
import { weftContenders } from "./weft.ts";

/** Every contender, the bare link first. */
export function allContenders(): Contender[] {
  return [rawVeth, ...weftContenders(), ...PLAIN_KINDS.map(plainContender)];
}
