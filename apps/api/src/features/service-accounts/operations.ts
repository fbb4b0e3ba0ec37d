import type { HandlersOf } from "../../registry/handler.ts";
import type { serviceAccountsContract } from "./contract.ts";
import {
  createServiceAccount,
  createServiceToken,
  disableServiceAccount,
  enableServiceAccount,
  getServiceAccount,
  listServiceAccounts,
  removeServiceAccount,
} from "./manage.ts";

export const serviceAccountsOperations: HandlersOf<typeof serviceAccountsContract> = {
  list: listServiceAccounts,
  get: getServiceAccount,
  create: createServiceAccount,
  disable: disableServiceAccount,
  enable: enableServiceAccount,
  remove: removeServiceAccount,
  createToken: createServiceToken,
};
