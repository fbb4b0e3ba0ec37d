import type { HandlersOf } from "../../registry/handler.ts";
import type { auditEventsContract } from "./contract.ts";
import { getEvent } from "./get-event.ts";
import { listEvents } from "./list-events.ts";

export const auditEventsOperations: HandlersOf<typeof auditEventsContract> = { list: listEvents, get: getEvent };
