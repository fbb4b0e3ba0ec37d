import type { HandlersOf } from "../../registry/handler.ts";
import { changePassword } from "./change-password.ts";
import type { accountContract } from "./contract.ts";
import { getAccount } from "./get-account.ts";
import { listIdentities, unlinkIdentity } from "./identities.ts";
import { beginTotp, confirmTotp, removeTotp, renewRecoveryCodes } from "./totp.ts";

export const accountOperations: HandlersOf<typeof accountContract> = {
  get: getAccount,
  changePassword,
  beginTotp,
  confirmTotp,
  removeTotp,
  renewRecoveryCodes,
  identities: listIdentities,
  unlinkIdentity,
};
