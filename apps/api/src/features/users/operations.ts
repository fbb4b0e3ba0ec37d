import type { HandlersOf } from "../../registry/handler.ts";
import type { usersContract } from "./contract.ts";
import { getUser, listUsers } from "./list-users.ts";
import { disableUser, enableUser, removeUser, resetMfa } from "./switch-user.ts";
import { updateUser } from "./update-user.ts";

export const usersOperations: HandlersOf<typeof usersContract> = {
  list: listUsers,
  get: getUser,
  update: updateUser,
  disable: disableUser,
  enable: enableUser,
  remove: removeUser,
  resetMfa,
};
