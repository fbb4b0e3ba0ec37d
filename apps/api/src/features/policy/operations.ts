import type { HandlersOf } from "../../registry/handler.ts";
import type { policyContract } from "./contract.ts";
import { explainPolicy } from "./explain-policy.ts";
import { getPolicy, testPolicy } from "./get-policy.ts";
import { listVersions, showVersion } from "./list-versions.ts";
import { replacePolicy, restorePolicy } from "./replace-policy.ts";
import { validatePolicy } from "./validate-policy.ts";

export const policyOperations: HandlersOf<typeof policyContract> = {
  get: getPolicy,
  replace: replacePolicy,
  validate: validatePolicy,
  test: testPolicy,
  explain: explainPolicy,
  versions: listVersions,
  version: showVersion,
  restore: restorePolicy,
};
