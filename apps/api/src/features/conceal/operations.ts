import type { HandlersOf } from "../../registry/handler.ts";
import { createConceal, removeConceal, updateConceal } from "./change-profiles.ts";
import type { concealContract } from "./contract.ts";
import { exportConceal, getConceal, getPlan, listConceal, listNodes } from "./read-profiles.ts";
import { rollBack, rollOut } from "./roll-out.ts";

export const concealOperations: HandlersOf<typeof concealContract> = {
  list: listConceal,
  get: getConceal,
  create: createConceal,
  update: updateConceal,
  remove: removeConceal,
  export: exportConceal,
  plan: getPlan,
  nodes: listNodes,
  rollOut,
  rollBack,
};
