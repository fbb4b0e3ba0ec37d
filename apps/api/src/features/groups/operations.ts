import type { HandlersOf } from "../../registry/handler.ts";
import { addPeer, removePeer } from "./change-membership.ts";
import type { groupsContract } from "./contract.ts";
import { createGroup } from "./create-group.ts";
import { getGroup } from "./get-group.ts";
import { listGroups } from "./list-groups.ts";
import { removeGroup } from "./remove-group.ts";
import { updateGroup } from "./update-group.ts";

export const groupsOperations: HandlersOf<typeof groupsContract> = {
  list: listGroups,
  get: getGroup,
  create: createGroup,
  update: updateGroup,
  remove: removeGroup,
  addPeer,
  removePeer,
};
