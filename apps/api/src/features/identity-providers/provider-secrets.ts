import type { IdentityProvider } from "../../db/identities-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { OidcProvider } from "../../registry/oidc.ts";

/** How a client secret is kept. */
export function sealClientSecret({ vault }: Pick<FeatureDeps, "vault">, id: string, secret: string): string {
  return vault.seal(`client secret ${id}`, secret);
}

/** A stored provider as the protocol needs it. */
export function openProvider({ vault }: Pick<FeatureDeps, "vault">, provider: IdentityProvider): OidcProvider {
  const { id, name, issuer, clientId, clientSecret } = provider;
  const opened = clientSecret === null ? undefined : vault.open(`client secret ${id}`, clientSecret);
  return { name, issuer, clientId, clientSecret: opened };
}

/** The page of the dashboard that a provider sends the browser back to. */
export function redirectUri({ server }: Pick<FeatureDeps, "server">, call: Pick<Call, "baseUrl">): string {
  return `${server.publicUrl ?? call.baseUrl}/login/callback`;
}
