import type { HandlersOf } from "../../registry/handler.ts";
import type { setupContract } from "./contract.ts";
import { createOwner } from "./create-owner.ts";
import { createFirstServiceAccount } from "./create-service-account.ts";
import { setupStatus } from "./setup-status.ts";

export const setupOperations: HandlersOf<typeof setupContract> = {
  status: setupStatus,
  createOwner,
  createServiceAccount: createFirstServiceAccount,
};
