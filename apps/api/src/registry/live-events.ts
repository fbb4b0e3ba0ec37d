import { z } from "zod";
import { CounterSchema, PeerIdSchema } from "./common-schemas.ts";
import { PeerSchema } from "./peer-schemas.ts";

const rates = { rxBitsPerSecond: z.number(), txBitsPerSecond: z.number() };
const totals = { rxBytes: CounterSchema, txBytes: CounterSchema };

/** The last ten minutes, oldest first; a stream begins with it. */
const HistorySchema = z.strictObject({
  kind: z.literal("history"),
  points: z.array(z.strictObject({ atMs: z.number(), ...rates })),
});

/** What a subscriber of a network hears. */
export const NetworkEventSchema = z.discriminatedUnion("kind", [
  HistorySchema,
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

/** What a subscriber of one peer hears. */
export const PeerEventSchema = z.discriminatedUnion("kind", [
  HistorySchema,
  z.strictObject({ kind: z.literal("peer"), peer: PeerSchema }),
  z.strictObject({ kind: z.literal("heartbeat"), atMs: z.number() }).describe("Every second; the stream is alive."),
  z.strictObject({
    kind: z.literal("sample"),
    atMs: z.number(),
    ...rates,
    ...totals,
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
