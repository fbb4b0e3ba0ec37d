import type { JobOutcome, JobWork, NetworkId, PeerId } from "@weft/protocol";
import type { Failure } from "../domain/failure.ts";
import type { Result } from "@weft/protocol";
import type { NetworkEvent, PeerEvent } from "./live-events.ts";

/** What only memory knows about a peer. */
export type LivePeer = {
  readonly presence: "online" | "offline" | "unknown";
  readonly lastSeenAt: Date | null;
  readonly map: {
    readonly state: "applied" | "pending" | "none";
    readonly sequence: bigint;
    readonly appliedAfterMs: number | null;
  };
  readonly rxBytes: bigint;
  readonly txBytes: bigint;
  /** What the node says needs a person; nothing while it has no stream. */
  readonly problems: readonly string[];
  /** How far the node's clock is ahead of the server's; `null` while it has no stream. */
  readonly clockSkewMs: number | null;
};

/** What finished work gave; the text of a report is JSON. */
export type WorkYield = Extract<JobOutcome, { kind: "ping" }> | { readonly kind: "report"; readonly text: string };

/** What a node reported last about its way to another peer. */
export type LiveLink = {
  readonly endpoint: string | null;
  readonly sessionAgeMs: number | null;
  readonly lastHandshakeAgeMs: number | null;
};

/** The live side of the server, as use cases see it. */
export type LiveState = {
  /** `undefined` until the live side has read the peer. */
  readonly peer: (id: PeerId) => LivePeer | undefined;
  /** `undefined` until the node counted something for the other one. */
  readonly link: (from: PeerId, to: PeerId) => LiveLink | undefined;
  readonly onlineCount: (id: NetworkId) => number;
  /** Why a node cannot be asked for such work now. */
  readonly refusal: (peerId: PeerId, kind: JobWork["kind"]) => Failure | undefined;
  /** Lets a node do work; resolves when it has ended. */
  readonly work: (job: {
    readonly peerId: PeerId;
    readonly work: JobWork;
    readonly timeLimitMs: number;
    /** Called with what the node found so far. */
    readonly onEvent: (found: unknown) => void;
    readonly signal: AbortSignal;
  }) => Promise<Result<WorkYield, Failure>>;
  readonly watchNetwork: (id: NetworkId, signal: AbortSignal) => AsyncIterable<NetworkEvent>;
  readonly watchPeer: (
    peer: { readonly id: PeerId; readonly networkId: NetworkId },
    signal: AbortSignal,
  ) => AsyncIterable<PeerEvent>;
};
