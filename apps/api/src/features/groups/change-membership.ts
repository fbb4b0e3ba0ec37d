import { err, ok } from "@weft/protocol";
import type { GroupId, Result } from "@weft/protocol";
import { findGroup } from "../../db/groups-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { GROUPS_MAX } from "../../registry/peer-schemas.ts";
import type { PeerView } from "../../registry/peer-schemas.ts";
import { changeSettings } from "../../registry/change-peer.ts";
import type { groupsContract } from "./contract.ts";

/** Puts a peer into a group. */
export async function addPeer(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof groupsContract.addPeer>,
): Outcome<typeof groupsContract.addPeer> {
  return change(deps, call, { ...input, how: (ids, id) => [...ids, id] });
}

/** Takes a peer out of a group. */
export async function removePeer(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof groupsContract.removePeer>,
): Outcome<typeof groupsContract.removePeer> {
  const changed = await change(deps, call, { ...input, how: (ids, id) => ids.filter((other) => other !== id) });
  return changed.ok ? ok(undefined) : changed;
}

async function change(
  deps: FeatureDeps,
  call: Call,
  {
    groupId,
    peerId,
    how,
  }: {
    readonly groupId: string;
    readonly peerId: string;
    readonly how: (ids: readonly GroupId[], id: GroupId) => readonly GroupId[];
  },
): Promise<Result<PeerView, Failure>> {
  const group = await findGroup(deps.database.db, groupId);
  if (!group) return err({ code: "not_found", what: "group" });
  return changeSettings(deps, call, {
    peerId,
    action: "peers.regroup",
    wanted(peer) {
      if (peer.networkId !== group.networkId) return err({ code: "not_found", what: "peer" });
      const wanted = [...new Set(how(peer.groupIds, group.id))];
      // Whoever has more than that from before may still leave some.
      if (wanted.length > GROUPS_MAX && wanted.length > peer.groupIds.length) return err(TOO_MANY);
      return ok({ groupIds: wanted });
    },
  });
}

const TOO_MANY = {
  code: "invalid_input",
  items: [{ pointer: "/groupId", code: "too_big", message: `a peer belongs to at most ${GROUPS_MAX} groups` }],
} as const;
