import type { Endpoint, IpAddress } from "./addresses.ts";
import type { ByeDetail, ByeReason } from "./bye.ts";
import type { CountersReport } from "./counters.ts";
import type { FlowReport } from "./flow-records.ts";
import type { JobId, PeerId } from "./ids.ts";
import type { IdentityKey, PublicKey, ServerKey } from "./keys.ts";
import type { MapVersion } from "./network-map.ts";
import type { NodeStatus } from "./node-status.ts";

/** How a stream is tied to the connection below it. */
export type ChannelBinding = "none" | "tls-exporter";

/** First frame of the server: who it is and what the agent has to sign. */
export type Challenge = {
  readonly serverKey: ServerKey;
  readonly serverNonce: Uint8Array;
  /** Ephemeral X25519 key of the server for this stream. */
  readonly exchangeKey: Uint8Array;
  readonly serverVersion: string;
  readonly protocolMin: number;
  readonly protocolMax: number;
  readonly channelBinding: ChannelBinding;
};

/** First frame of the agent: who it is. */
export type Hello = {
  readonly protocolVersion: number;
  readonly agentVersion: string;
  readonly identityKey: IdentityKey;
  readonly publicKey: PublicKey;
  /** Random per boot of the host's agent process. */
  readonly bootId: bigint;
  readonly counterEpoch: bigint;
  /** The map that the agent runs on; `null` when it has none. */
  readonly lastMap: MapVersion | null;
  readonly hostname: string;
  /** Name wished at enrolment; empty = derive it from the host name. */
  readonly wantedName: string;
  readonly os: string;
  readonly arch: string;
  readonly capabilities: readonly string[];
  readonly channelBinding: ChannelBinding;
  /** Ephemeral X25519 key of the agent for this stream; `null` only from an agent of another protocol version. */
  readonly exchangeKey: Uint8Array | null;
  /** An enrolment key that only the server of this stream can read; present when the node joins. */
  readonly enrolmentBox: Uint8Array | null;
};

export type NeedMapReason = "gap" | "hash" | "start" | "compact";
/** "deflate" is raw deflate without a zlib header. */
export type MapCompression = "none" | "deflate";

/** Outcome of one object that could not be applied. */
export type ApplyError = { readonly object: string; readonly detail: string };

export type ServerFrame =
  | ({ readonly kind: "challenge"; readonly signature: Uint8Array } & Challenge)
  | {
      readonly kind: "welcome";
      readonly peerId: PeerId;
      readonly epoch: bigint;
      readonly heartbeatMs: number;
      readonly mode: "resume" | "snapshot";
      /** The server's wall clock, for showing skew; `null` from a server that does not tell. */
      readonly wallClockMs: number | null;
    }
  | MapBeginFrame
  | MapPartFrame
  | MapEndFrame
  | DeltaFrame
  | { readonly kind: "watch"; readonly intervalMs: number }
  | { readonly kind: "job"; readonly jobId: JobId; readonly timeLimitMs: number; readonly work: JobWork }
  /** Nobody waits for the job any more; it ends as soon as it can. */
  | { readonly kind: "jobCancel"; readonly jobId: JobId }
  | SharedFrame;

export type AgentFrame =
  | ({ readonly kind: "hello"; readonly signature: Uint8Array } & Hello)
  | ({ readonly kind: "applied"; readonly durationMs: number; readonly errors: readonly ApplyError[] } & MapVersion)
  | { readonly kind: "needMap"; readonly reason: NeedMapReason }
  | { readonly kind: "status"; readonly status: NodeStatus }
  | { readonly kind: "counters"; readonly counters: CountersReport }
  | { readonly kind: "flowRecords"; readonly flows: FlowReport }
  | { readonly kind: "jobPart"; readonly jobId: JobId; readonly index: number; readonly content: Uint8Array }
  /** What a running job found so far, as the text of one JSON object. */
  | { readonly kind: "jobEvent"; readonly jobId: JobId; readonly content: string }
  | { readonly kind: "jobResult"; readonly jobId: JobId; readonly outcome: JobOutcome }
  /** The node removes itself; the server deletes the peer and answers with bye "removed". */
  | { readonly kind: "leave" }
  | SharedFrame;

/** Frames that both sides send. */
export type SharedFrame =
  | { readonly kind: "ping"; readonly token: bigint }
  /** `wallClockMs`: the sender's wall clock, for showing skew; `null` when it does not tell. */
  | { readonly kind: "pong"; readonly token: bigint; readonly wallClockMs: number | null }
  | {
      readonly kind: "bye";
      readonly reason: ByeReason;
      readonly detail: ByeDetail;
      readonly message: string;
      /** With "restart": the window to spread the reconnects over. Otherwise: wait at least this long. 0 = no wish. */
      readonly retryAfterMs: number;
    }
  | { readonly kind: "unsupported"; readonly frameNumber: number };

export type MapBeginFrame = MapVersion & {
  readonly kind: "mapBegin";
  readonly compression: MapCompression;
  /** Bytes of the map body before compression. */
  readonly bodyBytes: number;
  readonly partCount: number;
};
export type MapPartFrame = { readonly kind: "mapPart"; readonly index: number; readonly bytes: Uint8Array };
export type MapEndFrame = {
  readonly kind: "mapEnd";
  readonly timeMs: number;
  /** SHA-256 over all parts as sent. */
  readonly partsHash: Uint8Array;
  /** Server signature over `mapSigningBytes`. */
  readonly signature: Uint8Array;
};
export type DeltaFrame = MapVersion & {
  readonly kind: "delta";
  readonly baseSequence: bigint;
  readonly timeMs: number;
  /** An encoded `MapDelta`. */
  readonly body: Uint8Array;
  /** Server signature over `deltaSigningBytes`. */
  readonly signature: Uint8Array;
};

export type JobWork =
  | { readonly kind: "ping"; readonly target: IpAddress; readonly count: number }
  | {
      readonly kind: "profile";
      readonly seconds: number;
      readonly frequencyHz: number;
      readonly format: "folded" | "pprof";
    }
  /** "redact" leaves addresses and names out. */
  | { readonly kind: "debugBundle"; readonly addresses: "keep" | "redact" }
  /** Finds the routers between the node and a peer, or an address behind one. */
  | { readonly kind: "trace"; readonly target: IpAddress; readonly hopsMax: number }
  /** Asks again how large datagrams to a peer may be. */
  | { readonly kind: "mtuProbe"; readonly target: IpAddress }
  | ThroughputWork
  | { readonly kind: "restart"; readonly what: "engine" | "agent" };

/** One end of a measurement of how fast TCP is between two nodes; first the sender sends, then the receiver. */
export type ThroughputWork = {
  readonly kind: "throughput";
  /** "receive" listens at its own overlay address, "send" connects to it. */
  readonly role: "receive" | "send";
  /** Overlay address of the other end. */
  readonly peer: IpAddress;
  readonly port: number;
  /** Of each direction. */
  readonly seconds: number;
  /** Bits per second of each direction; 0 = as fast as it goes. */
  readonly rate: number;
  /** 32 bytes that the sender shows once. */
  readonly secret: Uint8Array;
};

/** Every kind of work. */
export const WORK_KINDS = [
  "ping",
  "profile",
  "debugBundle",
  "trace",
  "mtuProbe",
  "throughput",
  "restart",
] as const satisfies readonly JobWork["kind"][];

/** Kinds of work that an agent announces as `job-KIND`; every agent can ping. */
export const ANNOUNCED_WORK = ["profile", "debugBundle"] as const satisfies readonly JobWork["kind"][];

/** What an agent whose host forbids a kind of work has among its capabilities. */
export function forbiddenCapability(kind: JobWork["kind"]): string {
  return `no-job-${kind}`;
}

/** What an agent that does such work has among its capabilities. */
export function workCapability(kind: JobWork["kind"]): string {
  return `job-${kind}`;
}

export type JobOutcome =
  | {
      readonly kind: "ping";
      readonly sent: number;
      readonly received: number;
      readonly rttMicroseconds: readonly number[];
      readonly endpoint: Endpoint | null;
    }
  /** What the parts of the job hold together, as JSON text. */
  | { readonly kind: "report"; readonly parts: number; readonly bytes: number; readonly sha256: Uint8Array }
  | { readonly kind: "failed"; readonly message: string };

/** Largest part of a job's report, and largest report. */
export const JOB_PART_BYTES_MAX = 192 * 1024;
export const JOB_REPORT_BYTES_MAX = 24 * 1024 * 1024;

/** Longest event of a job, in UTF-8. */
export const JOB_EVENT_BYTES_MAX = 4 * 1024;
/** Routers that a trace looks for at most. */
export const TRACE_HOPS_MAX = 30;
/** Longest measurement of one direction. */
export const THROUGHPUT_SECONDS_MAX = 30;

/** Payload of one map part. */
export const MAP_PART_BYTES_MAX = 256 * 1024;
/** Longest frame that either side accepts. */
export const FRAME_BYTES_MAX = MAP_PART_BYTES_MAX + 8 * 1024;
