import type { Result } from "@weft/protocol";
import type { Failure } from "../domain/failure.ts";

/** A place to sign in with, as the protocol needs it. */
export type OidcProvider = {
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for public clients. */
  readonly clientSecret: string | undefined;
};

/** What one login carries from its beginning to its end; all of it is secret but for the state. */
export type OidcLogin = {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
};

/** Who somebody is at their provider. Only issuer and subject are an identity; the name is what they like to be called. */
export type OidcIdentity = { readonly issuer: string; readonly subject: string; readonly name: string | undefined };

/** Logins by OpenID Connect: authorization code with PKCE. */
export type OidcClient = {
  /** Where the browser goes to sign in. */
  readonly begin: (provider: OidcProvider, login: OidcLogin) => Promise<Result<string, Failure>>;
  /** Reads what the provider sent the browser back with; `query` is the part behind the `?`, as it came. */
  readonly finish: (provider: OidcProvider, login: OidcLogin, query: string) => Promise<Result<OidcIdentity, Failure>>;
};
