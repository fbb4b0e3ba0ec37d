import type { HandlersOf } from "../../registry/handler.ts";
import { applyConfiguration } from "./apply-configuration.ts";
import type { configurationContract } from "./contract.ts";
import { exportConfiguration } from "./export-configuration.ts";
import { planConfiguration } from "./plan-configuration.ts";

export const configurationOperations: HandlersOf<typeof configurationContract> = {
  export: exportConfiguration,
  plan: planConfiguration,
  apply: applyConfiguration,
};
