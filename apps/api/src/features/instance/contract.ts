import { z } from "zod";
import { TimeSchema } from "../../registry/common-schemas.ts";
import { NoInput, query } from "../../registry/contract-kit.ts";

export const instanceContract = {
  get: query({
    summary: "Describes this server: version, key, address, database",
    rest: { method: "GET", path: "/instance", status: 200 },
    access: { kind: "role", role: "viewer", scope: "settings:read", members: "too" },
    input: NoInput,
    output: z.strictObject({
      version: z.string(),
      startedAt: TimeSchema,
      serverKey: z.string().describe("Ed25519 key that agents pin, base64url."),
      publicUrl: z.string(),
      update: z
        .strictObject({
          state: z
            .enum(["off", "unknown", "current", "available"])
            .describe("off: no feed is set (WEFT_UPDATE_FEED); unknown: it was not asked yet, or never answered well"),
          release: z
            .strictObject({
              version: z.string(),
              url: z.string().describe("Where to read about it"),
              severity: z.enum(["normal", "security"]).describe("security: it, or one before it, closes a hole"),
              summary: z.string(),
            })
            .nullable(),
          checkedAt: TimeSchema.nullable(),
          failure: z.string().nullable().describe("Why the feed said nothing the last time"),
        })
        .describe("Whether a newer release is out; nothing is installed by itself"),
      database: z.strictObject({ kind: z.enum(["embedded", "external"]), ok: z.boolean() }),
    }),
  }),
};
