import { z } from "zod";
import {
  DeliveryIdSchema,
  listOutput,
  TimeSchema,
  UserIdSchema,
  WebhookIdSchema,
} from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";

const settings = {
  name: z.string().trim().min(1).max(100),
  url: z.string().min(1).max(2_000).describe("Where events are posted; http or https, no login inside."),
  actions: z
    .array(z.string().regex(/^[a-zA-Z]{1,50}\.(\*|[a-zA-Z]{1,50})$/, "expected noun.verb or noun.*"))
    .max(100)
    .describe("Operations to hear of, such as `peers.update` or `peers.*`; none means all."),
  state: z.enum(["on", "off"]).describe("While off, nothing new is noted and what waits is not sent."),
};

const WebhookSchema = z
  .strictObject({
    id: WebhookIdSchema,
    ...settings,
    createdBy: UserIdSchema.nullable(),
    createdAt: TimeSchema,
  })
  .meta({ id: "Webhook" });

const SecretField = z
  .string()
  .describe("Shown once. `Weft-Signature: t=TIME,v1=HEX` holds HMAC-SHA256 under it over `TIME.BODY`.");

const DeliverySchema = z
  .strictObject({
    id: DeliveryIdSchema,
    webhookId: WebhookIdSchema,
    eventId: z.string().describe("The same for every attempt and every webhook; receivers tell repetitions by it."),
    action: z.string(),
    state: z.enum(["pending", "delivered", "failed"]),
    attempts: z.int(),
    nextAttemptAt: TimeSchema.nullable(),
    lastStatus: z.int().nullable().describe("What the receiver answered last; null when it did not answer."),
    lastError: z.string().nullable(),
    finishedAt: TimeSchema.nullable(),
    createdAt: TimeSchema,
  })
  .meta({ id: "WebhookDelivery" });

export const webhooksSpec = listSpec({
  name: "webhooks",
  orders: ["-createdAt", "createdAt", "name", "-name"],
  filters: { state: settings.state },
  search: "Part of a name or URL.",
});

export const deliveriesSpec = listSpec({
  name: "webhookDeliveries",
  orders: ["-createdAt", "createdAt"],
  filters: {
    state: DeliverySchema.shape.state,
    eventId: z.string().min(1).max(100),
    action: z.string().min(1).max(110),
  },
  search: "Part of an action or error.",
});

const access = { kind: "role", role: "admin", scope: "webhooks:write" } as const;
const reading = { kind: "role", role: "admin", scope: "webhooks:read" } as const;
const byId = z.strictObject({ webhookId: WebhookIdSchema });

export const webhooksContract = {
  list: query({
    summary: "Lists webhooks",
    rest: { method: "GET", path: "/webhooks", status: 200 },
    access: reading,
    list: webhooksSpec,
    input: z.strictObject(listFields(webhooksSpec)).prefault({}),
    output: listOutput(WebhookSchema),
  }),
  get: query({
    summary: "Shows one webhook",
    rest: { method: "GET", path: "/webhooks/{webhookId}", status: 200, tagged: "webhook" },
    access: reading,
    input: byId,
    output: WebhookSchema,
  }),
  create: mutation({
    summary:
      "Creates a webhook: audit events are posted to its URL, at least once each. The answer shows its secret once",
    rest: { method: "POST", path: "/webhooks", status: 201, location: "/webhooks/{id}", tagged: "webhook" },
    access,
    input: z.strictObject({
      name: settings.name,
      url: settings.url,
      actions: settings.actions.default([]),
      state: settings.state.default("on"),
    }),
    output: z.strictObject({ ...WebhookSchema.shape, secret: SecretField }),
  }),
  update: mutation({
    summary: "Changes a webhook",
    rest: { method: "PATCH", path: "/webhooks/{webhookId}", status: 200, tagged: "webhook", ifMatch: "honoured" },
    access,
    input: z.strictObject({
      webhookId: WebhookIdSchema,
      name: settings.name.optional(),
      url: settings.url.optional(),
      actions: settings.actions.optional(),
      state: settings.state.optional(),
    }),
    output: WebhookSchema,
  }),
  rotateSecret: mutation({
    summary: "Gives a webhook a new secret, shown once; the old one ends at once",
    rest: { method: "POST", path: "/webhooks/{webhookId}/rotate-secret", status: 200 },
    access,
    input: byId,
    output: z.strictObject({ id: WebhookIdSchema, secret: SecretField }),
  }),
  remove: mutation({
    summary: "Removes a webhook with its log; what waits is not sent any more",
    rest: { method: "DELETE", path: "/webhooks/{webhookId}", status: 204, ifMatch: "honoured" },
    access,
    input: byId,
    output: NoOutput,
  }),
  test: mutation({
    summary: "Sends a test event now and says how that went",
    rest: { method: "POST", path: "/webhooks/{webhookId}/test", status: 200 },
    access,
    input: byId,
    output: DeliverySchema,
  }),
  deliveries: query({
    summary: "Lists what was sent to a webhook and what waits, newest first; kept for 7 days",
    rest: { method: "GET", path: "/webhooks/{webhookId}/deliveries", status: 200 },
    access: reading,
    list: deliveriesSpec,
    input: z.strictObject({ webhookId: WebhookIdSchema, ...listFields(deliveriesSpec) }),
    output: listOutput(DeliverySchema),
  }),
};
