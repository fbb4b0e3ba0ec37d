import { z } from "zod";
import { NetworkIdSchema, PeerIdSchema } from "../../registry/common-schemas.ts";
import { subscription } from "../../registry/contract-kit.ts";
import { NetworkEventSchema, PeerEventSchema } from "../../registry/live-events.ts";

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
