import type { HandlersOf } from "../../registry/handler.ts";
import { beginLogin } from "./begin-login.ts";
import type { identityProvidersContract } from "./contract.ts";
import { confirmLogin } from "./confirm-login.ts";
import { finishLogin } from "./finish-login.ts";
import { createProvider, listProviders, offeredProviders, removeProvider, updateProvider } from "./manage.ts";

export const identityProvidersOperations: HandlersOf<typeof identityProvidersContract> = {
  list: listProviders,
  create: createProvider,
  update: updateProvider,
  remove: removeProvider,
  offered: offeredProviders,
  begin: beginLogin,
  finish: finishLogin,
  confirm: confirmLogin,
};
