import type { HandlersOf } from "../../registry/handler.ts";
import type { enrolmentKeysContract } from "./contract.ts";
import { createKey } from "./create-key.ts";
import { getKey } from "./get-key.ts";
import { listKeys } from "./list-keys.ts";
import { revokeKey } from "./revoke-key.ts";

export const enrolmentKeysOperations: HandlersOf<typeof enrolmentKeysContract> = {
  list: listKeys,
  get: getKey,
  create: createKey,
  revoke: revokeKey,
};
