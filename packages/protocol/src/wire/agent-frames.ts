import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import { parseEndpoint } from "../addresses.ts";
import {
  JOB_EVENT_BYTES_MAX,
  JOB_PART_BYTES_MAX,
  JOB_REPORT_BYTES_MAX,
  type AgentFrame,
  type JobOutcome,
} from "../frames.ts";
import { jobIds } from "../ids.ts";
import { identityKeyFromBytes, keyBytes, publicKeyFromBytes } from "../keys.ts";
import { toPlainText } from "../names.ts";
import type { NodeStatus } from "../node-status.ts";
import type { AgentEnvelopeSchema, HelloSchema, JobResultSchema, StatusSchema } from "./agent_pb.ts";
import {
  atMost,
  bounded,
  FieldError,
  oneOf,
  parsed,
  safeNumber,
  shortText,
  sized,
  text,
  within,
  word,
} from "./checks.ts";
import { countersFromWire, countersToWire } from "./counters.ts";
import { flowsFromWire, flowsToWire } from "./flow-records.ts";
import {
  byeFromWire,
  HASH_BYTES,
  isChannelBinding,
  sharedToWire,
  SIGNATURE_BYTES,
  versionFromWire,
  wallClockFromWire,
  wallClockToWire,
  type AgentInit,
} from "./shared-frames.ts";

export function agentToWire(frame: AgentFrame): AgentInit {
  switch (frame.kind) {
    case "hello": {
      const { lastMap, exchangeKey, enrolmentBox, ...rest } = frame;
      return {
        case: "hello",
        value: {
          ...rest,
          identityKey: keyBytes(frame.identityKey),
          publicKey: keyBytes(frame.publicKey),
          capabilities: [...frame.capabilities],
          ...(lastMap ? { lastMap } : {}),
          ...(exchangeKey ? { exchangeKey } : {}),
          ...(enrolmentBox ? { enrolmentBox } : {}),
        },
      };
    }
    case "applied":
      return {
        case: "applied",
        value: {
          version: { epoch: frame.epoch, sequence: frame.sequence },
          durationMs: frame.durationMs,
          errors: frame.errors.slice(0, ERRORS_MAX).map(({ object, detail }) => ({
            object: toPlainText(object, OBJECT_LENGTH_MAX),
            detail: toPlainText(detail, SENTENCE_LENGTH_MAX),
          })),
        },
      };
    case "needMap":
      return { case: "needMap", value: { reason: frame.reason } };
    case "status":
      return {
        case: "status",
        value: {
          ...frame.status,
          endpoints: [...frame.status.endpoints],
          offloads: frame.status.offloads.map(({ name, state, reason }) => ({
            name,
            state,
            reason: toPlainText(reason ?? "", REASON_LENGTH_MAX),
          })),
          wallClockMs: wallClockToWire(frame.status.wallClockMs),
          clockSkewMs: skewToWire(frame.status.clockSkewMs),
          forwarding: frame.status.forwarding ?? "",
          problems: frame.status.problems.map((problem) => toPlainText(problem, SENTENCE_LENGTH_MAX)),
        },
      };
    case "counters":
      return { case: "counters", value: countersToWire(frame.counters) };
    case "flowRecords":
      return { case: "flowRecords", value: flowsToWire(frame.flows) };
    case "jobResult":
      return {
        case: "jobResult",
        value: { jobId: jobIds.toBytes(frame.jobId), outcome: outcomeToWire(frame.outcome) },
      };
    case "jobPart": {
      const { index, content } = frame;
      return { case: "jobPart", value: { jobId: jobIds.toBytes(frame.jobId), index, content } };
    }
    case "jobEvent":
      return { case: "jobEvent", value: { jobId: jobIds.toBytes(frame.jobId), content: frame.content } };
    case "leave":
      return { case: "leave", value: {} };
    case "ping":
    case "pong":
    case "bye":
    case "unsupported":
      return sharedToWire(frame);
  }
}

/** Returns `null` for a kind that this version does not know. */
export function agentFromWire(frame: MessageShape<typeof AgentEnvelopeSchema>["frame"]): AgentFrame | null {
  switch (frame.case) {
    case "hello":
      return helloFromWire(frame.value);
    case "applied":
      return {
        kind: "applied",
        ...versionFromWire("applied.version", frame.value.version),
        durationMs: frame.value.durationMs,
        errors: atMost("applied.errors", frame.value.errors, ERRORS_MAX).map((error) => ({
          object: text("applied.errors.object", error.object, OBJECT_LENGTH_MAX),
          detail: text("applied.errors.detail", error.detail, SENTENCE_LENGTH_MAX),
        })),
      };
    case "needMap":
      return {
        kind: "needMap",
        reason: word("need_map.reason", frame.value.reason, oneOf(["gap", "hash", "start", "compact"])),
      };
    case "status":
      return { kind: "status", status: statusFromWire(frame.value) };
    case "counters":
      return { kind: "counters", counters: countersFromWire(frame.value) };
    case "flowRecords":
      return { kind: "flowRecords", flows: flowsFromWire(frame.value) };
    case "jobResult":
      return {
        kind: "jobResult",
        jobId: parsed("job_result.id", jobIds.fromBytes(frame.value.jobId)),
        outcome: outcomeFromWire(frame.value.outcome),
      };
    case "jobPart":
      return {
        kind: "jobPart",
        jobId: parsed("job_part.id", jobIds.fromBytes(frame.value.jobId)),
        index: within("job_part.index", frame.value.index, { min: 0, max: 10_000 }),
        content: bounded("job_part.content", frame.value.content, JOB_PART_BYTES_MAX),
      };
    case "jobEvent":
      return {
        kind: "jobEvent",
        jobId: parsed("job_event.id", jobIds.fromBytes(frame.value.jobId)),
        content: shortText("job_event.content", frame.value.content, JOB_EVENT_BYTES_MAX),
      };
    case "leave":
      return { kind: "leave" };
    case "ping":
      return { kind: "ping", token: frame.value.token };
    case "pong":
      return {
        kind: "pong",
        token: frame.value.token,
        wallClockMs: wallClockFromWire("pong.wall_clock", frame.value.wallClockMs),
      };
    case "bye":
      return byeFromWire(frame.value);
    case "unsupported":
      return { kind: "unsupported", frameNumber: frame.value.frameNumber };
    case undefined:
      return null;
  }
}

function helloFromWire(message: MessageShape<typeof HelloSchema>): AgentFrame {
  const { exchangeKey, enrolmentBox } = message;
  return {
    kind: "hello",
    protocolVersion: message.protocolVersion,
    agentVersion: text("hello.agent_version", message.agentVersion, 64),
    identityKey: parsed("hello.identity_key", identityKeyFromBytes(message.identityKey)),
    publicKey: parsed("hello.public_key", publicKeyFromBytes(message.publicKey)),
    bootId: message.bootId,
    counterEpoch: message.counterEpoch,
    lastMap: message.lastMap ? versionFromWire("hello.last_map", message.lastMap) : null,
    hostname: text("hello.hostname", message.hostname, 253),
    wantedName: text("hello.wanted_name", message.wantedName, 63),
    os: text("hello.os", message.os, 100),
    arch: text("hello.arch", message.arch, 32),
    capabilities: atMost("hello.capabilities", message.capabilities, 64).map((name) =>
      text("hello.capabilities", name, 64),
    ),
    channelBinding: word("hello.channel_binding", message.channelBinding, isChannelBinding),
    exchangeKey: exchangeKey.length > 0 ? sized("hello.exchange_key", exchangeKey, HASH_BYTES) : null,
    enrolmentBox: enrolmentBox.length > 0 ? bounded("hello.enrolment_box", enrolmentBox, 512) : null,
    signature: sized("hello.signature", message.signature, SIGNATURE_BYTES),
  };
}

function statusFromWire(message: MessageShape<typeof StatusSchema>): NodeStatus {
  return {
    interfaceName: text("status.interface", message.interfaceName, 15),
    listenPort: within("status.listen_port", message.listenPort, { min: 0, max: 65_535 }),
    shards: within("status.shards", message.shards, { min: 0, max: 1024 }),
    endpoints: atMost("status.endpoints", message.endpoints, 64).map((endpoint) =>
      parsed("status.endpoints", parseEndpoint(endpoint)),
    ),
    offloads: atMost("status.offloads", message.offloads, 64).map((offload) => ({
      name: text("status.offloads.name", offload.name, 48),
      state: word("status.offloads.state", offload.state, oneOf(["on", "off", "fallback"])),
      reason: offload.reason === "" ? null : text("status.offloads.reason", offload.reason, REASON_LENGTH_MAX),
    })),
    wallClockMs: safeNumber("status.wall_clock", message.wallClockMs),
    clockSkewMs: message.clockSkewMs === undefined ? null : skewFromWire(message.clockSkewMs),
    forwarding:
      message.forwarding === "" ? null : word("status.forwarding", message.forwarding, oneOf(["works", "fails"])),
    problems: atMost("status.problems", message.problems, 32).map((problem) =>
      text("status.problems", problem, SENTENCE_LENGTH_MAX),
    ),
  };
}

function skewToWire(skewMs: number | null): bigint | undefined {
  if (skewMs === null) return undefined;
  return BigInt(Math.min(Math.max(Math.round(skewMs), -SKEW_MS_MAX), SKEW_MS_MAX));
}

function skewFromWire(value: bigint): number {
  return within("status.clock_skew", Number(value), { min: -SKEW_MS_MAX, max: SKEW_MS_MAX });
}

function outcomeToWire(outcome: JobOutcome): NonNullable<MessageInitShape<typeof JobResultSchema>["outcome"]> {
  switch (outcome.kind) {
    case "ping":
      return {
        case: "ping",
        value: {
          sent: outcome.sent,
          received: outcome.received,
          rttMicroseconds: [...outcome.rttMicroseconds],
          endpoint: outcome.endpoint ?? "",
        },
      };
    case "report": {
      const { parts, bytes, sha256 } = outcome;
      return { case: "report", value: { parts, bytes, sha256 } };
    }
    case "failed":
      return { case: "failed", value: { message: toPlainText(outcome.message, SENTENCE_LENGTH_MAX) } };
  }
}

function outcomeFromWire(outcome: MessageShape<typeof JobResultSchema>["outcome"]): JobOutcome {
  switch (outcome.case) {
    case "ping":
      return {
        kind: "ping",
        sent: within("job_result.sent", outcome.value.sent, { min: 0, max: 1000 }),
        received: within("job_result.received", outcome.value.received, { min: 0, max: outcome.value.sent }),
        rttMicroseconds: atMost("job_result.rtt", outcome.value.rttMicroseconds, 1000),
        endpoint:
          outcome.value.endpoint === "" ? null : parsed("job_result.endpoint", parseEndpoint(outcome.value.endpoint)),
      };
    case "report":
      return {
        kind: "report",
        parts: within("job_result.parts", outcome.value.parts, { min: 0, max: 10_000 }),
        bytes: within("job_result.bytes", outcome.value.bytes, { min: 0, max: JOB_REPORT_BYTES_MAX }),
        sha256: sized("job_result.sha256", outcome.value.sha256, HASH_BYTES),
      };
    case "failed":
      return { kind: "failed", message: text("job_result.message", outcome.value.message, SENTENCE_LENGTH_MAX) };
    case undefined:
      throw new FieldError("job_result.outcome", "missing");
  }
}

/** The range of dates that the language knows. */
const SKEW_MS_MAX = 8.64e15;
const ERRORS_MAX = 100;
const OBJECT_LENGTH_MAX = 100;
const REASON_LENGTH_MAX = 300;
/** What a system says is put into sentences: an agent must not lose its stream over a long one. */
const SENTENCE_LENGTH_MAX = 500;
