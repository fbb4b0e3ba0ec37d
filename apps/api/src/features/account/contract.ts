import { z } from "zod";
import { mutation, NoInput, NoOutput, query } from "../../registry/contract-kit.ts";
import { IdentityIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import {
  AccountSchema,
  CodeSchema,
  NewPasswordSchema,
  PasswordSchema,
  proofFields,
} from "../../registry/user-schemas.ts";

const own = { kind: "signed-in", scope: "users:write" } as const;
const RecoveryCodes = z.strictObject({
  recoveryCodes: z.array(z.string()).describe("Each works once in place of a code; shown only now."),
});

/** What people do to their own account. Changes need a browser's session: a token proves nobody's presence. */
export const accountContract = {
  get: query({
    summary: "Shows the caller's own account",
    rest: { method: "GET", path: "/users/current", status: 200 },
    access: { kind: "signed-in", scope: "users:read" },
    input: NoInput,
    output: z.strictObject({ ...AccountSchema.shape, recoveryCodesLeft: z.int() }),
  }),
  changePassword: mutation({
    summary: "Changes the caller's password; their other sessions end",
    rest: { method: "POST", path: "/users/current/password", status: 204 },
    access: own,
    input: z.strictObject({ currentPassword: PasswordSchema, newPassword: NewPasswordSchema }),
    output: NoOutput,
  }),
  beginTotp: mutation({
    summary: "Makes a secret for an authenticator application; it counts once a code of it was confirmed",
    rest: { method: "POST", path: "/users/current/totp", status: 200 },
    access: own,
    input: z.strictObject({ password: PasswordSchema }),
    output: z.strictObject({ secret: z.string(), uri: z.string().describe("For a QR code.") }),
  }),
  confirmTotp: mutation({
    summary: "Switches the second factor on, with a code of the application",
    rest: { method: "POST", path: "/users/current/totp/confirm", status: 200 },
    access: own,
    input: z.strictObject({ code: CodeSchema }),
    output: RecoveryCodes,
  }),
  removeTotp: mutation({
    summary: "Switches the second factor off, with password and code",
    rest: { method: "POST", path: "/users/current/totp/remove", status: 204 },
    access: own,
    input: z.strictObject({ password: PasswordSchema, code: CodeSchema }),
    output: NoOutput,
  }),
  renewRecoveryCodes: mutation({
    summary: "Makes new recovery codes; the old ones stop working",
    rest: { method: "POST", path: "/users/current/recovery-codes", status: 200 },
    access: own,
    input: z.strictObject({ code: CodeSchema }),
    output: RecoveryCodes,
  }),
  identities: query({
    summary: "Shows the identities at providers that open the caller's account",
    rest: { method: "GET", path: "/users/current/identities", status: 200 },
    access: { kind: "signed-in", scope: "users:read" },
    input: NoInput,
    output: z.strictObject({
      identities: z.array(
        z.strictObject({ id: IdentityIdSchema, issuer: z.string(), subject: z.string(), createdAt: TimeSchema }),
      ),
    }),
  }),
  unlinkIdentity: mutation({
    summary: "Takes an identity off the caller's account, with password or code; their other sessions end",
    rest: { method: "POST", path: "/users/current/identities/{identityId}/remove", status: 204 },
    access: own,
    input: z.strictObject({ identityId: IdentityIdSchema, ...proofFields }),
    output: NoOutput,
  }),
};
