import { z } from "zod";
import { mutation, NoInput, query } from "../../registry/contract-kit.ts";
import { LoginSchema, NewPasswordSchema, UserSchema } from "../../registry/user-schemas.ts";
import { ShownTokenSchema } from "../../registry/token-schemas.ts";
import { NetworkNameSchema, NetworkSchema } from "../../registry/network-schemas.ts";

export const setupContract = {
  status: query({
    summary: "Says whether an owner exists yet, and whether this caller needs the setup token",
    rest: { method: "GET", path: "/setup", status: 200 },
    access: { kind: "public" },
    input: NoInput,
    output: z.strictObject({ ownerExists: z.boolean(), tokenRequired: z.boolean() }),
  }),
  createOwner: mutation({
    summary: "Creates the owner and the first network, once",
    rest: { method: "POST", path: "/setup", status: 201, location: "/setup" },
    access: { kind: "public" },
    input: z.strictObject({
      login: LoginSchema,
      password: NewPasswordSchema,
      networkName: NetworkNameSchema,
      setupToken: z.string().min(1).max(200).optional(),
    }),
    output: z.strictObject({ user: UserSchema, network: NetworkSchema }),
  }),
  createServiceAccount: mutation({
    summary: "Creates the first account for automation, with the bootstrap token of the server's first start",
    rest: { method: "POST", path: "/setup/service-account", status: 201, location: "/service-accounts/{userId}" },
    access: { kind: "public" },
    input: z.strictObject({ bootstrapToken: z.string().min(1).max(200), login: LoginSchema }),
    output: ShownTokenSchema,
  }),
};
