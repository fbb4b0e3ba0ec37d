import { z } from "zod";
import { InviteIdSchema, listOutput, TimeSchema, UserIdSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";
import {
  InviteSecretSchema,
  LoginSchema,
  NewPasswordSchema,
  ServerRoleSchema,
  UserSchema,
} from "../../registry/user-schemas.ts";

const InviteSchema = z
  .strictObject({
    id: InviteIdSchema,
    role: ServerRoleSchema,
    login: z.string().nullable().describe("Login of the account; null: whoever opens the link chooses."),
    state: z.enum(["open", "used", "expired"]),
    expiresAt: TimeSchema,
    usedAt: TimeSchema.nullable(),
    usedBy: UserIdSchema.nullable(),
    createdBy: UserIdSchema.nullable(),
    createdAt: TimeSchema,
  })
  .meta({ id: "Invite" });

export const invitesSpec = listSpec({
  name: "invites",
  orders: ["-createdAt", "createdAt"],
  filters: { role: ServerRoleSchema, createdBy: UserIdSchema },
  search: "Part of a login.",
});

export const invitesContract = {
  list: query({
    summary: "Lists invites, newest first",
    rest: { method: "GET", path: "/invites", status: 200 },
    access: { kind: "role", role: "admin", scope: "users:read" },
    list: invitesSpec,
    input: z.strictObject(listFields(invitesSpec)).prefault({}),
    output: listOutput(InviteSchema),
  }),
  create: mutation({
    summary: "Makes a link that lets one person make an account; the answer shows it once",
    rest: { method: "POST", path: "/invites", status: 201, location: "/invites/{id}" },
    access: { kind: "role", role: "admin", scope: "users:write" },
    input: z.strictObject({
      role: ServerRoleSchema,
      login: LoginSchema.optional(),
      expiresInSeconds: z.int().min(60).max(2_592_000).default(259_200),
    }),
    output: z.strictObject({ ...InviteSchema.shape, link: z.string() }),
  }),
  revoke: mutation({
    summary: "Makes a link useless; an account that was made with it stays",
    rest: { method: "DELETE", path: "/invites/{inviteId}", status: 204 },
    access: { kind: "role", role: "admin", scope: "users:write" },
    input: z.strictObject({ inviteId: InviteIdSchema }),
    output: NoOutput,
  }),
  look: mutation({
    summary: "Says what an invite is for, to whoever holds its secret; changes nothing",
    rest: { method: "POST", path: "/invites/look", status: 200 },
    access: { kind: "public" },
    input: z.strictObject({ secret: InviteSecretSchema }),
    output: z.strictObject({ login: z.string().nullable(), role: ServerRoleSchema, expiresAt: TimeSchema }),
  }),
  accept: mutation({
    summary: "Makes the account of an invite and signs it in; works once",
    rest: { method: "POST", path: "/invites/accept", status: 201, location: "/sessions/current" },
    access: { kind: "public" },
    input: z.strictObject({ secret: InviteSecretSchema, login: LoginSchema, password: NewPasswordSchema }),
    output: z.strictObject({ user: UserSchema }),
  }),
};
