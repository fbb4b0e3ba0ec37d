import { z } from "zod";
import { SCOPE_RESOURCES } from "../../registry/access.ts";
import type { Scope } from "../../registry/access.ts";
import { listInput, listOutput, TimeSchema, TokenIdSchema, UserIdSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";

const ScopeSchema = z.templateLiteral([
  z.enum(SCOPE_RESOURCES),
  ":",
  z.enum(["read", "write"]),
]) satisfies z.ZodType<Scope>;

const TokenSchema = z
  .strictObject({
    id: TokenIdSchema,
    name: z.string(),
    hint: z.string().describe("Prefix and first four characters."),
    scopes: z.array(ScopeSchema),
    createdBy: UserIdSchema,
    createdAt: TimeSchema,
    lastUsedAt: TimeSchema.nullable(),
    expiresAt: TimeSchema.nullable(),
  })
  .meta({ id: "Token" });

export const tokensContract = {
  list: query({
    summary: "Lists API tokens: your own, or everybody's for administrators",
    rest: { method: "GET", path: "/tokens", status: 200 },
    access: { kind: "signed-in", scope: "tokens:read" },
    input: z.strictObject({ ...listInput }).prefault({}),
    output: listOutput(TokenSchema),
  }),
  create: mutation({
    summary: "Creates an API token; the answer shows it once",
    rest: { method: "POST", path: "/tokens", status: 201, location: "/tokens/{id}" },
    access: { kind: "signed-in", scope: "tokens:write" },
    input: z.strictObject({
      name: z.string().trim().min(1).max(100),
      scopes: z
        .array(ScopeSchema)
        .min(1)
        .max(SCOPE_RESOURCES.length * 2),
      expiresInSeconds: z.int().min(60).max(315_360_000).optional(),
    }),
    output: z.strictObject({ ...TokenSchema.shape, token: z.string() }),
  }),
  revoke: mutation({
    summary: "Revokes an API token at once",
    rest: { method: "DELETE", path: "/tokens/{tokenId}", status: 204 },
    access: { kind: "signed-in", scope: "tokens:write" },
    input: z.strictObject({ tokenId: TokenIdSchema }),
    output: NoOutput,
  }),
};
