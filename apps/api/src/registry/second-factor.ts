import { Secret, TOTP } from "otpauth";
import type { Executor } from "../db/client.ts";
import { takeRecoveryCode } from "../db/recovery-codes-repository.ts";
import { takeTotpStep } from "../db/users-repository.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import { hashSecret } from "./secrets.ts";

/** Which code was good. */
export type SpentCode = "totp" | "recovery";

type Owner = { readonly userId: string; readonly sealedSecret: string };

/** Makes the secret of an authenticator application, in base 32. */
export function makeTotpSecret(deps: Pick<FeatureDeps, "random">): string {
  return new Secret({ buffer: Uint8Array.from(deps.random(SECRET_BYTES)).buffer }).base32;
}

/** What a QR code shows to the application. */
export function totpUri(secret: string, login: string): string {
  return totpOf(secret, login).toString();
}

/** How a secret is kept. */
export function sealTotp({ vault }: Pick<FeatureDeps, "vault">, userId: string, secret: string): string {
  return vault.seal(`totp ${userId}`, secret);
}

/** Checks a code and spends it: neither a time step nor a recovery code counts twice, whoever races for it. */
export async function spendCode(
  deps: Pick<FeatureDeps, "vault" | "clock">,
  tx: Executor,
  { code, ...owner }: Owner & { readonly code: string },
): Promise<SpentCode | undefined> {
  const typed = code.replace(/[\s-]/g, "").toLowerCase();
  if (/^\d{6}$/.test(typed)) return (await spendTotp(deps, tx, { ...owner, code: typed })) ? "totp" : undefined;
  return (await takeRecoveryCode(tx, owner.userId, hashSecret(typed))) ? "recovery" : undefined;
}

/** The same for codes of the application alone. */
export async function spendTotp(
  deps: Pick<FeatureDeps, "vault" | "clock">,
  tx: Executor,
  { userId, sealedSecret, code }: Owner & { readonly code: string },
): Promise<boolean> {
  const secret = deps.vault.open(`totp ${userId}`, sealedSecret);
  const timestamp = deps.clock.nowMs();
  const steps = totpOf(secret, "").validate({ token: code.replace(/\s/g, ""), timestamp, window: STEPS_AROUND });
  if (steps === null) return false;
  return takeTotpStep(tx, userId, Math.floor(timestamp / (PERIOD_SECONDS * 1_000)) + steps);
}

/** Recovery codes as people write them down, and as they are kept: 80 bits each, so a plain hash is enough. */
export function makeRecoveryCodes(deps: Pick<FeatureDeps, "random">): {
  readonly shown: string[];
  readonly hashes: string[];
} {
  const plain = Array.from({ length: RECOVERY_CODES }, () =>
    Array.from(deps.random(RECOVERY_LETTERS), (byte) => LETTERS.charAt(byte & 31)).join(""),
  );
  return { shown: plain.map((code) => code.replace(/(.{4})(?=.)/g, "$1-")), hashes: plain.map(hashSecret) };
}

function totpOf(secret: string, login: string): TOTP {
  return new TOTP({
    issuer: "weft",
    label: login,
    secret: Secret.fromBase32(secret),
    algorithm: "SHA1",
    digits: 6,
    period: PERIOD_SECONDS,
  });
}

const SECRET_BYTES = 20;
const PERIOD_SECONDS = 30;
/** Clocks of phones may be off by this many steps. */
const STEPS_AROUND = 1;
const RECOVERY_CODES = 10;
const RECOVERY_LETTERS = 16;
/** As in our ids: no letters that look alike. */
const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz";
