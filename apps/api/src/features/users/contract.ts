import { z } from "zod";
import { GRANTS } from "../../registry/access.ts";
import { listOutput, UserIdSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { accountsInput, usersSpec } from "../../registry/list-accounts.ts";
import { AccountSchema, NetworkRolesSchema, ServerRoleSchema } from "../../registry/user-schemas.ts";

const input = z.strictObject({ userId: UserIdSchema });
const manage = { kind: "role", role: "admin", scope: "users:write" } as const;

export const usersContract = {
  list: query({
    summary: "Lists the people who may sign in",
    rest: { method: "GET", path: "/users", status: 200 },
    access: { kind: "role", role: "viewer", scope: "users:read" },
    list: usersSpec,
    input: accountsInput,
    output: listOutput(AccountSchema),
  }),
  get: query({
    summary: "Shows one person",
    rest: { method: "GET", path: "/users/{userId}", status: 200 },
    access: { kind: "role", role: "viewer", scope: "users:read" },
    input,
    output: AccountSchema,
  }),
  update: mutation({
    summary: "Changes what somebody may do; nobody gives more than they have themselves",
    rest: { method: "PATCH", path: "/users/{userId}", status: 200 },
    access: manage,
    input: z.strictObject({
      userId: UserIdSchema,
      role: ServerRoleSchema.optional(),
      networkRoles: NetworkRolesSchema.optional(),
      grants: z.array(z.enum(GRANTS)).max(GRANTS.length).optional(),
    }),
    output: AccountSchema,
  }),
  disable: mutation({
    summary: "Locks somebody out: sessions, tokens and open streams end at once",
    rest: { method: "POST", path: "/users/{userId}/disable", status: 200 },
    access: manage,
    input,
    output: AccountSchema,
  }),
  enable: mutation({
    summary: "Lets somebody back in, or approves a newcomer of an identity provider",
    rest: { method: "POST", path: "/users/{userId}/enable", status: 200 },
    access: manage,
    input,
    output: AccountSchema,
  }),
  remove: mutation({
    summary: "Removes somebody with their sessions and tokens; what they made stays",
    rest: { method: "DELETE", path: "/users/{userId}", status: 204 },
    access: manage,
    input,
    output: NoOutput,
  }),
  resetMfa: mutation({
    summary: "Takes the second factor off an account whose owner lost it; their sessions end",
    rest: { method: "POST", path: "/users/{userId}/reset-mfa", status: 200 },
    access: manage,
    input,
    output: AccountSchema,
  }),
};
