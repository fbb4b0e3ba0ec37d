import { z } from "zod";
import type { FeatureDeps } from "../../registry/feature-deps.ts";

/** A login on its way: sealed, so that its browser can keep it without reading it. */
export type PendingLogin = Omit<z.output<typeof PendingSchema>, "expiresMs">;

export function sealLogin({ vault, clock }: Pick<FeatureDeps, "vault" | "clock">, login: PendingLogin): string {
  return vault.seal(PURPOSE, JSON.stringify({ ...login, expiresMs: clock.nowMs() + LOGIN_MS }));
}

/** The login behind a token; undefined when it is not ours, was changed, or is too old. */
export function openLogin(
  { vault, clock }: Pick<FeatureDeps, "vault" | "clock">,
  token: string,
): (PendingLogin & { readonly expiresMs: number }) | undefined {
  let text: string;
  try {
    text = vault.open(PURPOSE, token);
  } catch {
    return undefined;
  }
  const login = PendingSchema.parse(JSON.parse(text));
  return login.expiresMs > clock.nowMs() ? login : undefined;
}

/** A login that its provider has vouched for, on its way to the second factor. */
export type ProvenLogin = Omit<z.output<typeof ProvenSchema>, "expiresMs">;

export function sealProven({ vault, clock }: Pick<FeatureDeps, "vault" | "clock">, login: ProvenLogin): string {
  return vault.seal(PROVEN_PURPOSE, JSON.stringify({ ...login, expiresMs: clock.nowMs() + PROVEN_MS }));
}

/** The proven login behind a token; undefined when it is not ours, was changed, or is too old. */
export function openProven(
  { vault, clock }: Pick<FeatureDeps, "vault" | "clock">,
  token: string,
): z.output<typeof ProvenSchema> | undefined {
  let text: string;
  try {
    text = vault.open(PROVEN_PURPOSE, token);
  } catch {
    return undefined;
  }
  const login = ProvenSchema.parse(JSON.parse(text));
  return login.expiresMs > clock.nowMs() ? login : undefined;
}

const ProvenSchema = z.strictObject({
  providerId: z.string(),
  issuer: z.string(),
  subject: z.string(),
  userId: z.string(),
  /** Guesses of codes count together with those at the login with a password. */
  login: z.string(),
  state: z.string(),
  expiresMs: z.number(),
});

const PendingSchema = z.strictObject({
  providerId: z.string(),
  /** The account that the identity is to be added to. */
  linkTo: z.string().nullable(),
  redirectUri: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  expiresMs: z.number(),
});

const PURPOSE = "oidc login";
const PROVEN_PURPOSE = "oidc second factor";
const PROVEN_MS = 5 * 60_000;
const LOGIN_MS = 10 * 60_000;
