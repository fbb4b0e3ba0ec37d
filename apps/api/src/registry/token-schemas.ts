import { z } from "zod";
import { SCOPE_RESOURCES } from "./access.ts";
import type { Scope } from "./access.ts";
import { TimeSchema, TokenIdSchema, UserIdSchema } from "./common-schemas.ts";

export const ScopeSchema = z.templateLiteral([
  z.enum(SCOPE_RESOURCES),
  ":",
  z.enum(["read", "write"]),
]) satisfies z.ZodType<Scope>;

export const TokenSchema = z
  .strictObject({
    id: TokenIdSchema,
    name: z.string(),
    hint: z.string().describe("Prefix and first four characters."),
    scopes: z.array(ScopeSchema),
    userId: UserIdSchema.describe("Whose rights it has: a person, or a service account."),
    createdBy: UserIdSchema.nullable(),
    createdAt: TimeSchema,
    lastUsedAt: TimeSchema.nullable(),
    expiresAt: TimeSchema.nullable(),
  })
  .meta({ id: "Token" });

/** What a new token is asked for with. */
export const newToken = {
  name: z.string().trim().min(1).max(100),
  scopes: z
    .array(ScopeSchema)
    .min(1)
    .max(SCOPE_RESOURCES.length * 2),
  expiresInSeconds: z.int().min(60).max(315_360_000).optional(),
};

/** The answer that shows a token, once. */
export const ShownTokenSchema = z.strictObject({ ...TokenSchema.shape, token: z.string() });
