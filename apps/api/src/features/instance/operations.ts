import type { HandlersOf } from "../../registry/handler.ts";
import type { instanceContract } from "./contract.ts";
import { getInstance } from "./get-instance.ts";

export const instanceOperations: HandlersOf<typeof instanceContract> = { get: getInstance };
