import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import * as client from "openid-client";
import type { Failure } from "../domain/failure.ts";
import type { OidcClient, OidcIdentity, OidcLogin, OidcProvider } from "../registry/oidc.ts";

/** Speaks to providers through openid-client. The ID token's signature is always checked against the provider's keys. */
export function createOidcClient(): OidcClient {
  return {
    async begin(provider, { redirectUri, state, nonce, verifier }) {
      return attempt(provider, async () => {
        const config = await discover(provider);
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: SCOPE,
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: "S256",
        });
        return url.toString();
      });
    },
    async finish(provider, login, query) {
      return attempt(provider, async () => identityOf(await discover(provider), login, query));
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: OidcProvider): Promise<client.Configuration> {
  const url = new URL(issuer);
  const authentication = clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret);
  const isLoopback = url.protocol === "http:" && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const config = await client.discovery(url, clientId, { [client.clockTolerance]: LEEWAY_SECONDS }, authentication, {
    timeout: TIMEOUT_SECONDS,
    execute: isLoopback ? [client.allowInsecureRequests] : [],
  });
  config.timeout = TIMEOUT_SECONDS;
  client.enableNonRepudiationChecks(config);
  return config;
}

async function identityOf(config: client.Configuration, login: OidcLogin, query: string): Promise<OidcIdentity> {
  const url = new URL(login.redirectUri);
  url.search = query;
  const tokens = await client.authorizationCodeGrant(config, url, {
    pkceCodeVerifier: login.verifier,
    expectedState: login.state,
    expectedNonce: login.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (!claims) throw new Error("the provider sent no ID token");
  const name = [claims["preferred_username"], claims["name"]].find(
    (claim): claim is string => typeof claim === "string" && claim !== "",
  );
  return { issuer: claims.iss, subject: claims.sub, name };
}

/** Whatever goes wrong at the provider is its fault and never a 401; what it refuses on purpose is told as that. */
async function attempt<T>(provider: OidcProvider, work: () => Promise<T>): Promise<Result<T, Failure>> {
  try {
    return ok(await work());
  } catch (error) {
    if (error instanceof client.AuthorizationResponseError) {
      return err({ code: "identity_refused", provider: provider.name, detail: error.error });
    }
    if (error instanceof client.ResponseBodyError && error.error === "invalid_grant") {
      return err({ code: "login_ended" });
    }
    return err({ code: "identity_provider_failed", provider: provider.name, detail: reasonOf(error) });
  }
}

/** Short, and without anything that was sent. */
function reasonOf(error: unknown): string {
  if (error instanceof client.ResponseBodyError) return `it answered ${error.error}`;
  if (!(error instanceof Error)) return "unknown error";
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const isUnreachable =
    error.name === "TimeoutError" || (error instanceof TypeError && error.message === "fetch failed");
  if (isUnreachable || cause?.name === "TimeoutError") return "it cannot be reached";
  return error.message.slice(0, REASON_LENGTH_MAX);
}

const SCOPE = "openid profile";
const TIMEOUT_SECONDS = 10;
/** Clocks may differ by this much. */
const LEEWAY_SECONDS = 60;
const REASON_LENGTH_MAX = 200;
