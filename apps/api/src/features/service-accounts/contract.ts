import { z } from "zod";
import { listOutput, UserIdSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { accountsInput, serviceAccountsSpec } from "../../registry/list-accounts.ts";
import { newToken, ShownTokenSchema } from "../../registry/token-schemas.ts";
import { AccountSchema, LoginSchema, NetworkRolesSchema, ServerRoleSchema } from "../../registry/user-schemas.ts";

const manage = { kind: "role", role: "admin", scope: "users:write" } as const;
const input = z.strictObject({ serviceAccountId: UserIdSchema });

/** Accounts for programs: rights like people's, no login, only tokens. */
export const serviceAccountsContract = {
  list: query({
    summary: "Lists service accounts",
    rest: { method: "GET", path: "/service-accounts", status: 200 },
    access: { kind: "role", role: "viewer", scope: "users:read" },
    list: serviceAccountsSpec,
    input: accountsInput,
    output: listOutput(AccountSchema),
  }),
  get: query({
    summary: "Shows one service account",
    rest: { method: "GET", path: "/service-accounts/{serviceAccountId}", status: 200 },
    access: { kind: "role", role: "viewer", scope: "users:read" },
    input,
    output: AccountSchema,
  }),
  create: mutation({
    summary: "Creates a service account; give it a token next",
    rest: { method: "POST", path: "/service-accounts", status: 201, location: "/service-accounts/{id}" },
    access: manage,
    input: z.strictObject({
      login: LoginSchema.describe("Its name; shares its namespace with people's logins."),
      role: ServerRoleSchema,
      networkRoles: NetworkRolesSchema.optional(),
    }),
    output: AccountSchema,
  }),
  disable: mutation({
    summary: "Stops all tokens of a service account at once",
    rest: { method: "POST", path: "/service-accounts/{serviceAccountId}/disable", status: 200 },
    access: manage,
    input,
    output: AccountSchema,
  }),
  enable: mutation({
    summary: "Lets the tokens of a service account work again",
    rest: { method: "POST", path: "/service-accounts/{serviceAccountId}/enable", status: 200 },
    access: manage,
    input,
    output: AccountSchema,
  }),
  remove: mutation({
    summary: "Removes a service account with its tokens; what it made stays",
    rest: { method: "DELETE", path: "/service-accounts/{serviceAccountId}", status: 204 },
    access: manage,
    input,
    output: NoOutput,
  }),
  createToken: mutation({
    summary: "Creates a token of a service account; the answer shows it once",
    rest: {
      method: "POST",
      path: "/service-accounts/{serviceAccountId}/tokens",
      status: 201,
      location: "/tokens/{id}",
    },
    access: { kind: "role", role: "admin", scope: "tokens:write" },
    input: z.strictObject({ serviceAccountId: UserIdSchema, ...newToken }),
    output: ShownTokenSchema,
  }),
};
