import { z } from "zod";
import { IdentityProviderIdSchema, listOutput, TimeSchema } from "../../registry/common-schemas.ts";
import { mutation, NoInput, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";
import { CodeSchema, InviteSecretSchema, proofFields, UserSchema } from "../../registry/user-schemas.ts";

const manage = { kind: "role", role: "admin", scope: "settings:write" } as const;

const fields = {
  name: z.string().trim().min(1).max(60).describe("What the button at the login says."),
  issuer: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .describe("Exactly as the provider writes it; http only for this machine."),
  clientId: z.string().min(1).max(200),
  newcomers: z
    .enum(["refuse", "wait"])
    .describe("What happens to somebody whom nobody invited: refused, or made an account that waits for approval."),
  isEnabled: z.boolean(),
};

const ProviderSchema = z
  .strictObject({
    id: IdentityProviderIdSchema,
    ...fields,
    hasClientSecret: z.boolean(),
    redirectUri: z.string().describe("What the provider must allow as the address to come back to."),
    createdAt: TimeSchema,
  })
  .meta({ id: "IdentityProvider" });

const clientSecret = z.string().min(1).max(1_000);

export const identityProvidersSpec = listSpec({
  name: "identityProviders",
  orders: ["-createdAt", "createdAt", "name", "-name"],
  filters: {},
  search: "Part of a name or issuer.",
});

export const identityProvidersContract = {
  list: query({
    summary: "Lists the identity providers that people may sign in with",
    rest: { method: "GET", path: "/identity-providers", status: 200 },
    access: { kind: "role", role: "admin", scope: "settings:read" },
    list: identityProvidersSpec,
    input: z.strictObject(listFields(identityProvidersSpec)).prefault({}),
    output: listOutput(ProviderSchema),
  }),
  create: mutation({
    summary: "Adds an OpenID Connect provider",
    rest: { method: "POST", path: "/identity-providers", status: 201, location: "/identity-providers/{id}" },
    access: manage,
    input: z.strictObject({
      ...fields,
      clientSecret: clientSecret.optional(),
      newcomers: fields.newcomers.default("refuse"),
      isEnabled: fields.isEnabled.default(true),
    }),
    output: ProviderSchema,
  }),
  update: mutation({
    summary: "Changes a provider; a switched-off one lets nobody in, also not in the middle of a login",
    rest: { method: "PATCH", path: "/identity-providers/{identityProviderId}", status: 200 },
    access: manage,
    input: z.strictObject({
      identityProviderId: IdentityProviderIdSchema,
      name: fields.name.optional(),
      issuer: fields.issuer.optional(),
      clientId: fields.clientId.optional(),
      clientSecret: clientSecret.nullable().optional(),
      newcomers: fields.newcomers.optional(),
      isEnabled: fields.isEnabled.optional(),
    }),
    output: ProviderSchema,
  }),
  remove: mutation({
    summary: "Removes a provider; accounts stay, and work again with a provider of the same issuer",
    rest: { method: "DELETE", path: "/identity-providers/{identityProviderId}", status: 204 },
    access: manage,
    input: z.strictObject({ identityProviderId: IdentityProviderIdSchema }),
    output: NoOutput,
  }),
  offered: query({
    summary: "Lists the ways to sign in beside the password",
    rest: { method: "GET", path: "/login-methods", status: 200 },
    access: { kind: "public" },
    input: NoInput,
    output: z.strictObject({
      providers: z.array(z.strictObject({ id: IdentityProviderIdSchema, name: z.string() })),
    }),
  }),
  begin: mutation({
    summary: "Begins a login at a provider: where to send the browser, and what to keep until it is back",
    rest: { method: "POST", path: "/identity-providers/{identityProviderId}/logins", status: 200 },
    access: { kind: "public" },
    input: z.strictObject({
      identityProviderId: IdentityProviderIdSchema,
      intent: z
        .enum(["sign-in", "link"])
        .default("sign-in")
        .describe("link: adds the identity to the account that is signed in; needs its password or a code."),
      ...proofFields,
    }),
    output: z.strictObject({ url: z.string(), loginToken: z.string() }),
  }),
  finish: mutation({
    summary: "Ends a login at a provider; works once",
    rest: { method: "POST", path: "/sessions/oidc", status: 200 },
    access: { kind: "public" },
    input: z.strictObject({
      loginToken: z.string().min(1).max(2_000),
      query: z.string().max(8_000).describe("What the provider sent the browser back with, as it came."),
      invite: InviteSecretSchema.optional(),
    }),
    output: z.strictObject({ user: UserSchema }),
  }),
  confirm: mutation({
    summary: "Adds the second factor to a login at a provider that was answered with `second_factor_next`",
    rest: { method: "POST", path: "/sessions/oidc/second-factor", status: 200 },
    access: { kind: "public" },
    input: z.strictObject({
      loginToken: z.string().min(1).max(4_000).describe("`loginToken` of that answer; good for five minutes."),
      code: CodeSchema,
    }),
    output: z.strictObject({ user: UserSchema }),
  }),
};
