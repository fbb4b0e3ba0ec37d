import { z } from "zod";
import { CounterSchema, NetworkIdSchema, PeerIdSchema } from "../../registry/common-schemas.ts";
import { subscription } from "../../registry/contract-kit.ts";
import { PeerSchema } from "../../registry/peer-schemas.ts";

const rates = { rxBitsPerSecond: z.number(), txBitsPerSecond: z.number() };
const totals = { rxBytes: CounterSchema, txBytes: CounterSchema };

const NetworkEventSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("peers"), peers: z.array(PeerSchema) }),
  z.strictObject({ kind: z.literal("peer-removed"), peerId: PeerIdSchema }),
  z.strictObject({
    kind: z.literal("sample"),
    atMs: z.number(),
    peers: z.array(z.strictObject({ peerId: PeerIdSchema, ...rates, ...totals })),
    totals: z.strictObject(rates),
  }),
]);

const LinkSampleSchema = z.strictObject({
  peerId: PeerIdSchema,
  name: z.string(),
  ...rates,
  ...totals,
  endpoint: z.string().nullable(),
  sessionAgeSeconds: z.number().nullable(),
  lastHandshakeAgeSeconds: z.number().nullable(),
  drops: z.record(z.string(), CounterSchema),
});

const StageSampleSchema = z.strictObject({
  shard: z.int(),
  stage: z.string(),
  batches: z.number(),
  packets: z.number(),
  bytes: z.number(),
  nanoseconds: z.number(),
});

const OffloadSchema = z.strictObject({
  name: z.string(),
  state: z.enum(["on", "off", "fallback"]),
  reason: z.string().nullable(),
});

const PeerEventSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("history"),
    points: z.array(z.strictObject({ atMs: z.number(), ...rates })),
  }),
  z.strictObject({ kind: z.literal("peer"), peer: PeerSchema }),
  z.strictObject({
    kind: z.literal("sample"),
    atMs: z.number(),
    ...rates,
    links: z.array(LinkSampleSchema),
    drops: z.record(z.string(), CounterSchema),
    stages: z.array(StageSampleSchema).describe("Per second."),
    offload: z.array(OffloadSchema),
    cpuPercent: z.number(),
    rssBytes: z.number(),
  }),
]);

export type NetworkEvent = z.output<typeof NetworkEventSchema>;
export type PeerEvent = z.output<typeof PeerEventSchema>;

export const liveContract = {
  network: subscription({
    summary: "Peers of a network and their rates, as they change",
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    input: z.strictObject({ networkId: NetworkIdSchema }),
    output: NetworkEventSchema,
  }),
  peer: subscription({
    summary: "Throughput, links, drops, stages and offload state of one peer, every second",
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    input: z.strictObject({ peerId: PeerIdSchema }),
    output: PeerEventSchema,
  }),
};
