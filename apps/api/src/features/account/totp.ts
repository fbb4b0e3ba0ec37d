import { err, ok } from "@weft/protocol";
import { replaceRecoveryCodes } from "../../db/recovery-codes-repository.ts";
import { changeUser, pendingTotpSecret } from "../../db/users-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import {
  makeRecoveryCodes,
  makeTotpSecret,
  sealTotp,
  spendCode,
  spendTotp,
  totpUri,
} from "../../registry/second-factor.ts";
import type { accountContract } from "./contract.ts";
import { changeOwn } from "../../registry/own-account.ts";

/** Makes a secret that does not count yet; asking again replaces it. */
export async function beginTotp(
  deps: FeatureDeps,
  call: Call,
  { password }: InputOf<typeof accountContract.beginTotp>,
): Outcome<typeof accountContract.beginTotp> {
  return changeOwn(deps, call, {
    action: "account.beginTotp",
    password,
    async apply(tx, { userId, credentials }) {
      if (credentials.totp) return err({ code: "second_factor_state", detail: "the second factor is on already" });
      const secret = makeTotpSecret(deps);
      await changeUser(tx, userId, { totpSecret: sealTotp(deps, userId, secret), totpLastStep: null });
      return ok({ secret, uri: totpUri(secret, credentials.user.login) });
    },
  });
}

/** Switches the second factor on. */
export async function confirmTotp(
  deps: FeatureDeps,
  call: Call,
  { code }: InputOf<typeof accountContract.confirmTotp>,
): Outcome<typeof accountContract.confirmTotp> {
  return changeOwn(deps, call, {
    action: "account.confirmTotp",
    async apply(tx, { userId, credentials }) {
      const sealedSecret = credentials.totp ? undefined : await pendingTotpSecret(tx, userId);
      if (sealedSecret === undefined) {
        return err({ code: "second_factor_state", detail: "begin first, and confirm with a code of that secret" });
      }
      if (!(await spendTotp(deps, tx, { userId, sealedSecret, code }))) return err({ code: "code_wrong" });
      const { shown, hashes } = makeRecoveryCodes(deps);
      await replaceRecoveryCodes(tx, userId, hashes);
      await changeUser(tx, userId, { totpSince: new Date(deps.clock.nowMs()) });
      return ok({ recoveryCodes: shown });
    },
  });
}

/** Switches the second factor off. */
export async function removeTotp(
  deps: FeatureDeps,
  call: Call,
  { password, code }: InputOf<typeof accountContract.removeTotp>,
): Outcome<typeof accountContract.removeTotp> {
  return changeOwn(deps, call, {
    action: "account.removeTotp",
    password,
    async apply(tx, { userId, credentials }) {
      if (!credentials.totp) return err(FACTOR_OFF);
      const owner = { userId, sealedSecret: credentials.totp.secret };
      if (!(await spendCode(deps, tx, { ...owner, code }))) return err({ code: "code_wrong" });
      await replaceRecoveryCodes(tx, userId, []);
      await changeUser(tx, userId, { totpSince: null, totpSecret: null, totpLastStep: null });
      return ok(undefined);
    },
  });
}

/** Makes new recovery codes. */
export async function renewRecoveryCodes(
  deps: FeatureDeps,
  call: Call,
  { code }: InputOf<typeof accountContract.renewRecoveryCodes>,
): Outcome<typeof accountContract.renewRecoveryCodes> {
  return changeOwn(deps, call, {
    action: "account.renewRecoveryCodes",
    async apply(tx, { userId, credentials }) {
      if (!credentials.totp) return err(FACTOR_OFF);
      const owner = { userId, sealedSecret: credentials.totp.secret };
      if (!(await spendCode(deps, tx, { ...owner, code }))) return err({ code: "code_wrong" });
      const { shown, hashes } = makeRecoveryCodes(deps);
      await replaceRecoveryCodes(tx, userId, hashes);
      return ok({ recoveryCodes: shown });
    },
  });
}

const FACTOR_OFF = { code: "second_factor_state", detail: "the second factor is off" } as const;
