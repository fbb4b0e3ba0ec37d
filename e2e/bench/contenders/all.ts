import { PLAIN_KINDS } from "../../harness/provide-plain.ts";
import type { Contender } from "./contender.ts";
import { filteredContenders } from "./filtered.ts";
import { plainContender } from "./plain.ts";
import { rawVeth } from "./raw-veth.ts";
import { weftContenders } from "./weft.ts";
import { yip } from "./yip.ts";

/**
 * Every contender, the bare link first.
 *
 * Those that ratios compare stand side by side, because neighbours run one after the other in each round.
 */
export function allContenders(): Contender[] {
  const [weft, ...variants] = weftContenders();
  const [wireguardGo, ...others] = PLAIN_KINDS.map(plainContender);
  return [rawVeth, ...filteredContenders(), ...variants, weft, wireguardGo, ...others, yip].filter(
    (one) => one !== undefined,
  );
}
