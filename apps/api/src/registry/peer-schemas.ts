import { WORK_KINDS } from "@weft/protocol";
import { z } from "zod";
import { PEER_KINDS } from "../domain/peer.ts";
import { PEER_STATES } from "../domain/peer-state.ts";
import { CounterSchema, GroupIdSchema, NetworkIdSchema, PeerIdSchema, TimeSchema } from "./common-schemas.ts";

/** A DNS label: what a peer is called inside its network. */
export const PeerNameSchema = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, "lower-case letters, digits and inner dashes");

/** More groups of one peer than this are refused. */
export const GROUPS_MAX = 100;

export const PeerStateSchema = z.enum(PEER_STATES);

export const PeerSchema = z
  .strictObject({
    id: PeerIdSchema,
    networkId: NetworkIdSchema,
    name: z.string(),
    kind: z.enum(PEER_KINDS).describe("A node runs the agent, a client runs plain WireGuard behind a gateway."),
    gatewayPeerId: PeerIdSchema.nullable().describe("The node that speaks for a client; null for nodes."),
    publicKey: z.string().describe("WireGuard key, base64."),
    fingerprint: z
      .string()
      .describe("Short form of the identity key, or of the WireGuard key of a client, for comparing by eye."),
    ipv4: z.string().nullable(),
    ipv6: z.string().nullable(),
    state: PeerStateSchema.describe("Only an active peer takes part in the network."),
    expiresAt: TimeSchema.nullable().describe("When the membership ends by itself; never when null."),
    groupIds: z.array(GroupIdSchema),
    ephemeralSeconds: z
      .int()
      .nullable()
      .describe("The peer is removed when it was away for so long; it stays when null."),
    removalAt: TimeSchema.nullable().describe("When the peer is removed if it stays away; null while it is online."),
    presence: z.enum(["online", "offline", "unknown"]),
    lastSeenAt: TimeSchema.nullable(),
    endpoint: z.string().nullable().describe("Address at which others reach this peer best."),
    endpoints: z.array(z.strictObject({ address: z.string(), source: z.enum(["interface", "observed"]) })),
    os: z.string(),
    arch: z.string(),
    agentVersion: z.string(),
    createdAt: TimeSchema,
    map: z.strictObject({
      state: z.enum(["applied", "pending", "none"]),
      sequence: z.int().nonnegative(),
      appliedAfterMs: z.number().nullable().describe("From the commit of the change to the agent's confirmation."),
    }),
    exit: z
      .strictObject({
        peerId: PeerIdSchema,
        lan: z.enum(["reachable", "blocked"]),
        lost: z.enum(["blocked", "direct"]),
      })
      .nullable()
      .describe("Through whom the peer's other traffic leaves; its own way when null."),
    problems: z
      .array(z.string())
      .describe("What needs a person on the peer's host, as its agent says; empty while it is not connected."),
    clockSkewMs: z
      .int()
      .nullable()
      .describe(
        "Milliseconds by which the host's clock is ahead of the server's, negative when behind; null while it is not " +
          "connected. Worth a look from 1,000; nothing depends on it.",
      ),
    forbiddenJobs: z.array(z.enum(WORK_KINDS)).describe("Work that the host's own settings forbid to ask for."),
    rxBytes: CounterSchema,
    txBytes: CounterSchema,
  })
  .meta({ id: "Peer" });

export type PeerView = z.output<typeof PeerSchema>;
