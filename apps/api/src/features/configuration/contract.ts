import { z } from "zod";
import { mutation, query } from "../../registry/contract-kit.ts";

const fileInput = {
  content: z.string().min(1).max(500_000).describe("The file: YAML or JSON"),
  prune: z
    .boolean()
    .default(false)
    .describe("Whether what the file does not name is deleted, in the lists that it has"),
  absentPeers: z
    .enum(["refuse", "skip"])
    .default("refuse")
    .describe(
      "What to do about routes of peers that have not joined; rules and tests that name them are always refused",
    ),
};

const ChangeSchema = z.strictObject({
  action: z.enum(["create", "update", "delete"]),
  kind: z.string().describe("The section of the file, such as `groups`"),
  network: z.string().nullable().describe("null: of the whole server"),
  name: z.string().describe("Empty for what a network has one of"),
  before: z.unknown().describe("null: nothing"),
  after: z.unknown().describe("null: nothing"),
  dangers: z.array(z.string()).describe("What somebody should look at before it is done"),
  state: z.enum(["planned", "kept", "skipped"]).describe("kept: deleted with `prune` only; skipped: waits for a peer"),
  reason: z.string().nullable(),
});

const CountsSchema = z.strictObject({
  create: z.int(),
  update: z.int(),
  delete: z.int(),
  kept: z.int(),
  skipped: z.int(),
});

const FaultSchema = z.strictObject({
  path: z.string().describe("Where it stands, such as `office/policy`"),
  code: z.string().describe("As in problem documents"),
  message: z.string(),
});

export const configurationContract = {
  export: query({
    summary:
      "Writes networks, groups, policies, routes, names, keys, webhooks and service accounts as one file without secrets",
    rest: { method: "GET", path: "/configuration", status: 200 },
    access: { kind: "role", role: "admin", scope: "settings:read" },
    input: z.strictObject({ format: z.enum(["yaml", "json"]).default("yaml") }).prefault({}),
    output: z.strictObject({
      format: z.enum(["yaml", "json"]),
      content: z.string().describe("The same state gives the same bytes, on every server"),
    }),
  }),
  plan: query({
    summary: "Says what a file would create, change and delete, by doing it and taking it all back",
    rest: { method: "POST", path: "/configuration/plan", status: 200 },
    access: { kind: "role", role: "admin", scope: "settings:read" },
    input: z.strictObject(fileInput),
    output: z.strictObject({
      tag: z.string().describe("Goes into `apply`; another one as soon as the server has something else"),
      verdict: z.enum(["nothing", "changes", "faulty"]),
      counts: CountsSchema,
      changes: z.array(ChangeSchema).describe("In the order in which they are made"),
      faults: z.array(FaultSchema).describe("Why it cannot be applied; the first one found"),
    }),
  }),
  apply: mutation({
    summary: "Does what a plan says, all of it or nothing; the answer shows the secrets of what is new, once",
    rest: { method: "POST", path: "/configuration/apply", status: 200 },
    access: { kind: "role", role: "admin", scope: "settings:write" },
    input: z.strictObject({ ...fileInput, tag: z.string().min(1).max(100).describe("Of the plan that was looked at") }),
    output: z.strictObject({
      counts: CountsSchema,
      changes: z.array(ChangeSchema),
      secrets: z.array(
        z.strictObject({
          kind: z.enum(["enrolmentKeys", "webhooks"]),
          network: z.string().nullable(),
          name: z.string(),
          secret: z.string(),
          joinLine: z.string().nullable(),
        }),
      ),
    }),
  }),
};
