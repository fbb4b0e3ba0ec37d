import type { HandlersOf } from "../../registry/handler.ts";
import type { expirationsContract } from "./contract.ts";
import { listExpirations } from "./list-expirations.ts";

export const expirationsOperations: HandlersOf<typeof expirationsContract> = { list: listExpirations };
