import { randomBytes } from "node:crypto";
import { err, ok } from "@weft/protocol";
import { findProvider } from "../../db/identities-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { changeOwn } from "../../registry/own-account.ts";
import type { identityProvidersContract } from "./contract.ts";
import { sealLogin } from "./login-token.ts";
import { openProvider, redirectUri } from "./provider-secrets.ts";

/** Begins a login. Nothing is stored: what must come back is sealed, and the browser keeps it. */
export async function beginLogin(
  deps: FeatureDeps,
  call: Call,
  { identityProviderId, intent, ...proof }: InputOf<typeof identityProvidersContract.begin>,
): Outcome<typeof identityProvidersContract.begin> {
  const provider = await findProvider(deps.database.db, identityProviderId);
  if (!provider?.isEnabled) return err({ code: "not_found", what: "identity provider" });
  const { actor } = call;
  if (intent === "link" && actor.kind !== "user") {
    return err({ code: "not_authenticated", detail: "sign in first, then add the identity to your account" });
  }
  if (intent === "link") {
    // Whoever borrows an open browser for a moment must not leave a door of their own behind.
    const step = { action: "account.beginLink", proof, apply: async () => ok(undefined) };
    const proven = await changeOwn(deps, call, step);
    if (!proven.ok) return proven;
  }
  const login = { redirectUri: redirectUri(deps, call), state: secret(), nonce: secret(), verifier: secret() };
  const url = await deps.oidc.begin(openProvider(deps, provider), login);
  if (!url.ok) return url;
  const linkTo = intent === "link" && actor.kind === "user" ? actor.userId : null;
  return ok({ url: url.value, loginToken: sealLogin(deps, { ...login, providerId: provider.id, linkTo }) });
}

function secret(): string {
  return randomBytes(32).toString("base64url");
}
