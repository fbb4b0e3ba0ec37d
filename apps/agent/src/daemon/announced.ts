import { type CipherChoice, type EngineTuning, type LaneChoice, profileCapabilities } from "@weft/dataplane";
import { ANNOUNCED_WORK, CAPABILITY, forbiddenCapability, workCapability } from "@weft/protocol";

import type { ConcealSetting } from "../settings/conceal.ts";
import type { ForbiddenJobs } from "../settings/forbidden-jobs.ts";
import { NO_LANES } from "./lane-state.ts";

/** What decides what an agent announces. */
type Announced = {
  readonly cipher: CipherChoice;
  readonly lanes?: LaneChoice;
  readonly tuning: EngineTuning;
  readonly conceal: ConcealSetting | null;
  readonly forbiddenJobs: ForbiddenJobs;
};

/** What is offered to other agents, and why. */
export function offersOf({ cipher, lanes = NO_LANES }: Pick<Announced, "cipher" | "lanes">): {
  readonly cipher: CipherChoice;
  readonly lanes: LaneChoice;
} {
  return { cipher, lanes };
}

/** The words in a hello for what this agent can and may do. */
export function announcedCapabilities(own: Announced): readonly string[] {
  return [
    ...profileCapabilities({ ...offersOf(own), checksumElision: own.tuning.checksumElision ?? "auto" }),
    CAPABILITY.filterSetChanges,
    // A host with a profile of its own takes none from the map.
    ...(own.conceal ? [] : [CAPABILITY.conceal]),
    ...ANNOUNCED_WORK.filter((kind) => !own.forbiddenJobs.has(kind)).map(workCapability),
    ...[...own.forbiddenJobs].map(forbiddenCapability),
  ];
}
