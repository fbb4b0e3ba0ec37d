import type { HandlersOf } from "../../registry/handler.ts";
import { acceptInvite, lookAtInvite } from "./accept-invite.ts";
import type { invitesContract } from "./contract.ts";
import { createInvite, listInvites, revokeInvite } from "./manage-invites.ts";

export const invitesOperations: HandlersOf<typeof invitesContract> = {
  list: listInvites,
  create: createInvite,
  revoke: revokeInvite,
  look: lookAtInvite,
  accept: acceptInvite,
};
