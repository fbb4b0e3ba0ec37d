import { type CipherChoice, type LaneChoice, profileCapabilities } from "@weft/dataplane";
import { ANNOUNCED_WORK, CAPABILITY, forbiddenCapability, workCapability } from "@weft/protocol";

import { NO_LANES } from "./lane-state.ts";
import type { NodeSurroundings } from "./node.ts";

/** What is offered to other agents, and why. */
export function offersOf({ cipher, lanes = NO_LANES }: Pick<NodeSurroundings, "cipher" | "lanes">): {
  readonly cipher: CipherChoice;
  readonly lanes: LaneChoice;
} {
  return { cipher, lanes };
}

/** The words in a hello for what this agent can and may do. */
export function announcedCapabilities(
  own: Pick<NodeSurroundings, "cipher" | "lanes" | "tuning" | "conceal" | "forbiddenJobs">,
): readonly string[] {
  return [
    ...profileCapabilities({ ...offersOf(own), checksumElision: own.tuning.checksumElision ?? "auto" }),
    CAPABILITY.filterSetChanges,
    // A host with a profile of its own takes none from the map.
    ...(own.conceal ? [] : [CAPABILITY.conceal]),
    ...ANNOUNCED_WORK.filter((kind) => !own.forbiddenJobs.has(kind)).map(workCapability),
    ...[...own.forbiddenJobs].map(forbiddenCapability),
  ];
}
