import type { HandlersOf } from "../../registry/handler.ts";
import type { rulesContract } from "./contract.ts";
import { createRule } from "./create-rule.ts";
import { listRules } from "./list-rules.ts";
import { removeRule } from "./remove-rule.ts";
import { showRuleHits } from "./rule-hits.ts";
import { updateRule } from "./update-rule.ts";

export const rulesOperations: HandlersOf<typeof rulesContract> = {
  list: listRules,
  hits: showRuleHits,
  create: createRule,
  update: updateRule,
  remove: removeRule,
};
