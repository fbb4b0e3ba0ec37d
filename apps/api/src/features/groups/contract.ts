import { z } from "zod";
import { GroupIdSchema, listOutput, NetworkIdSchema, PeerIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";
import { NetworkNameSchema } from "../../registry/network-schemas.ts";
import { PeerSchema } from "../../registry/peer-schemas.ts";

const settings = { name: NetworkNameSchema, description: z.string().max(1_000) };

const GroupSchema = z
  .strictObject({
    id: GroupIdSchema,
    networkId: NetworkIdSchema,
    name: z.string(),
    description: z.string(),
    peerCount: z.int(),
    createdAt: TimeSchema,
  })
  .meta({ id: "Group" });

export const groupsSpec = listSpec({
  name: "groups",
  orders: ["name", "-name", "createdAt", "-createdAt"],
  filters: {},
  search: "Part of a name.",
});

export const groupsContract = {
  list: query({
    summary: "Lists the groups of a network",
    rest: { method: "GET", path: "/networks/{networkId}/groups", status: 200 },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    list: groupsSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(groupsSpec) }),
    output: listOutput(GroupSchema),
  }),
  get: query({
    summary: "Shows one group",
    rest: { method: "GET", path: "/groups/{groupId}", status: 200, tagged: "group" },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    input: z.strictObject({ groupId: GroupIdSchema }),
    output: GroupSchema,
  }),
  create: mutation({
    summary: "Creates a group without members",
    rest: {
      method: "POST",
      path: "/networks/{networkId}/groups",
      status: 201,
      location: "/groups/{id}",
      tagged: "group",
    },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({
      networkId: NetworkIdSchema,
      name: settings.name,
      description: settings.description.default(""),
    }),
    output: GroupSchema,
  }),
  update: mutation({
    summary: "Changes name or description of a group",
    rest: { method: "PATCH", path: "/groups/{groupId}", status: 200, tagged: "group", ifMatch: "honoured" },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({
      groupId: GroupIdSchema,
      name: settings.name.optional(),
      description: settings.description.optional(),
    }),
    output: GroupSchema,
  }),
  remove: mutation({
    summary: "Removes a group that no rule uses; its peers stay, without it",
    rest: { method: "DELETE", path: "/groups/{groupId}", status: 204, ifMatch: "honoured" },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({ groupId: GroupIdSchema }),
    output: NoOutput,
  }),
  addPeer: mutation({
    summary: "Puts a peer into a group; one that is in it stays in it",
    rest: { method: "PUT", path: "/groups/{groupId}/peers/{peerId}", status: 200, tagged: "peer" },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({ groupId: GroupIdSchema, peerId: PeerIdSchema }),
    output: PeerSchema,
  }),
  removePeer: mutation({
    summary: "Takes a peer out of a group",
    rest: { method: "DELETE", path: "/groups/{groupId}/peers/{peerId}", status: 204 },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({ groupId: GroupIdSchema, peerId: PeerIdSchema }),
    output: NoOutput,
  }),
};
