import { z } from "zod";
import { GRANTS, ROLES, SERVER_ROLES } from "./access.ts";
import { NetworkIdSchema, TimeSchema, UserIdSchema } from "./common-schemas.ts";

export const LoginSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\s\p{C}]+$/u, "must not contain spaces or invisible characters");

export const NewPasswordSchema = z.string().min(10, "needs at least 10 characters").max(1_000);

/** A password as it is typed at a login. */
export const PasswordSchema = z.string().min(1).max(1_000);

export const CodeSchema = z.string().min(6).max(40).describe("Six digits of the application, or a recovery code.");

/** What shows that a caller is the owner of the account, where they change how they sign in. */
export const proofFields = {
  password: PasswordSchema.optional().describe("The present password; or else a code."),
  code: CodeSchema.optional(),
};

/** The part of an invite's link that is the secret. */
export const InviteSecretSchema = z.string().regex(/^[\w-]{43}$/, "not the whole link");

export const UserSchema = z
  .strictObject({ id: UserIdSchema, login: z.string(), role: z.enum(SERVER_ROLES) })
  .meta({ id: "User" });

export const ServerRoleSchema = z
  .enum(SERVER_ROLES)
  .describe("Role on the whole server; none has only the roles that single networks give.");

export const NetworkRolesSchema = z
  .array(z.strictObject({ networkId: NetworkIdSchema, role: z.enum(ROLES) }))
  .max(1_000)
  .describe("Roles in single networks; the stronger of both counts.");

/** An account as administrators see it. */
export const AccountSchema = z
  .strictObject({
    ...UserSchema.shape,
    networkRoles: NetworkRolesSchema,
    grants: z.array(z.enum(GRANTS)),
    state: z.enum(["active", "disabled", "waiting"]).describe("waiting: came from an identity provider, unapproved."),
    hasPassword: z.boolean(),
    hasSecondFactor: z.boolean(),
    lastLoginAt: TimeSchema.nullable(),
    createdAt: TimeSchema,
  })
  .meta({ id: "Account" });
