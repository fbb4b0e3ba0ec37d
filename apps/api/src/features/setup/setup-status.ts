import { ok } from "@weft/protocol";
import { ownerExists } from "../../db/users-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { Outcome } from "../../registry/handler.ts";
import type { setupContract } from "./contract.ts";

/** Tells the first-run page whether it is still needed. */
export async function setupStatus(deps: FeatureDeps, call: Call): Outcome<typeof setupContract.status> {
  return ok({ ownerExists: await ownerExists(deps.database.db), tokenRequired: !call.isLocal });
}
