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
      database: z.strictObject({ kind: z.enum(["embedded", "external"]), ok: z.boolean() }),
    }),
  }),
};
