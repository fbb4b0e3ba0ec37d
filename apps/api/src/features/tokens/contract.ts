import { z } from "zod";
import { listOutput, TokenIdSchema, UserIdSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";
import { newToken, ShownTokenSchema, TokenSchema } from "../../registry/token-schemas.ts";

export const tokensSpec = listSpec({
  name: "tokens",
  orders: ["-createdAt", "createdAt", "name", "-name"],
  filters: { userId: UserIdSchema.describe("Tokens of one account.") },
  search: "Part of a name.",
});

export const tokensContract = {
  list: query({
    summary: "Lists API tokens: your own, or everybody's for administrators",
    rest: { method: "GET", path: "/tokens", status: 200 },
    access: { kind: "signed-in", scope: "tokens:read" },
    list: tokensSpec,
    input: z.strictObject(listFields(tokensSpec)).prefault({}),
    output: listOutput(TokenSchema),
  }),
  get: query({
    summary: "Shows one API token; those of others for administrators",
    rest: { method: "GET", path: "/tokens/{tokenId}", status: 200 },
    access: { kind: "signed-in", scope: "tokens:read" },
    input: z.strictObject({ tokenId: TokenIdSchema }),
    output: TokenSchema,
  }),
  create: mutation({
    summary: "Creates a token that acts for the caller; the answer shows it once",
    rest: { method: "POST", path: "/tokens", status: 201, location: "/tokens/{id}" },
    access: { kind: "signed-in", scope: "tokens:write" },
    input: z.strictObject(newToken),
    output: ShownTokenSchema,
  }),
  revoke: mutation({
    summary: "Revokes an API token at once",
    rest: { method: "DELETE", path: "/tokens/{tokenId}", status: 204 },
    access: { kind: "signed-in", scope: "tokens:write" },
    input: z.strictObject({ tokenId: TokenIdSchema }),
    output: NoOutput,
  }),
};
