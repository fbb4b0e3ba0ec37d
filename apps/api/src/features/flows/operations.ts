import type { HandlersOf } from "../../registry/handler.ts";
import type { flowLogsContract } from "./contract.ts";
import { listFlows } from "./list-flows.ts";
import { topFlows } from "./top-flows.ts";

export const flowLogsOperations: HandlersOf<typeof flowLogsContract> = { list: listFlows, top: topFlows };
