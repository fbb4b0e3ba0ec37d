import { z } from "zod";
import { listOutput, NetworkIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import { query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";

const EventIdSchema = z.string().regex(/^evt_[0-9a-f]{32}$/, "expected an id that begins with evt_");
const ActorKindSchema = z.enum(["anonymous", "user", "token", "node", "server"]);
/** Ids of objects that may be gone; of any kind. */
const AnyIdSchema = z.string().min(1).max(200);

const AuditEventSchema = z
  .strictObject({
    id: EventIdSchema,
    at: TimeSchema,
    action: z.string().describe("Operation that was done, such as `peers.update`."),
    actor: z.strictObject({
      kind: ActorKindSchema,
      id: z.string().nullable(),
      login: z.string().nullable().describe("Login or name at that time."),
    }),
    address: z.string().describe("Where the call came from."),
    requestId: z.string(),
    networkId: z.string().nullable(),
    objectId: z.string().nullable(),
    before: z.unknown().describe("The object, or the fields that changed, before; null when it did not exist."),
    after: z.unknown().describe("The same after the change; null when it is gone."),
  })
  .meta({ id: "AuditEvent" });

export const auditEventsSpec = listSpec({
  name: "auditEvents",
  orders: ["-at", "at"],
  filters: {
    action: z.string().min(1).max(100).describe("Name of the operation."),
    actorKind: ActorKindSchema,
    actorId: AnyIdSchema.describe("User, token or peer that did it."),
    objectId: AnyIdSchema.describe("What it was done to."),
    networkId: NetworkIdSchema,
    requestId: AnyIdSchema.describe("Everything that one call did."),
    since: TimeSchema.describe("From this moment on."),
    until: TimeSchema.describe("Before this moment."),
  },
  search: "Part of an action, login, object id or address.",
});

export const auditEventsContract = {
  list: query({
    summary: "Lists who changed what, newest first; events are kept for WEFT_AUDIT_DAYS days",
    rest: { method: "GET", path: "/audit-events", status: 200 },
    access: { kind: "role", role: "viewer", scope: "audit:read" },
    list: auditEventsSpec,
    input: z.strictObject(listFields(auditEventsSpec)).prefault({}),
    output: listOutput(AuditEventSchema),
  }),
  get: query({
    summary: "Shows one audit event",
    rest: { method: "GET", path: "/audit-events/{eventId}", status: 200 },
    access: { kind: "role", role: "viewer", scope: "audit:read" },
    input: z.strictObject({ eventId: EventIdSchema }),
    output: AuditEventSchema,
  }),
};
