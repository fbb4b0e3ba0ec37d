import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import { ipFromBytes, ipToBytes } from "../addresses.ts";
import { THROUGHPUT_SECONDS_MAX, TRACE_HOPS_MAX, type JobWork } from "../frames.ts";
import type { JobSchema, ThroughputWorkSchema } from "./agent_pb.ts";
import { FieldError, oneOf, parsed, safeNumber, sized, within, word } from "./checks.ts";
import { HASH_BYTES } from "./shared-frames.ts";

export function workToWire(work: JobWork): NonNullable<MessageInitShape<typeof JobSchema>["work"]> {
  switch (work.kind) {
    case "ping":
      return { case: "ping", value: { target: ipToBytes(work.target), count: work.count } };
    case "profile": {
      const { seconds, frequencyHz, format } = work;
      return { case: "profile", value: { seconds, frequencyHz, format } };
    }
    case "debugBundle":
      return { case: "debugBundle", value: { addresses: work.addresses } };
    case "trace":
      return { case: "trace", value: { target: ipToBytes(work.target), hopsMax: work.hopsMax } };
    case "mtuProbe":
      return { case: "mtuProbe", value: { target: ipToBytes(work.target) } };
    case "throughput": {
      const { role, port, seconds, secret } = work;
      const value = { role, peer: ipToBytes(work.peer), port, seconds, rate: BigInt(work.rate), secret };
      return { case: "throughput", value };
    }
    case "restart":
      return { case: "restart", value: { what: work.what } };
  }
}

export function workFromWire(work: MessageShape<typeof JobSchema>["work"]): JobWork {
  switch (work.case) {
    case "ping":
      return {
        kind: "ping",
        target: parsed("job.ping.target", ipFromBytes(work.value.target)),
        count: within("job.ping.count", work.value.count, { min: 1, max: 100 }),
      };
    case "profile":
      return {
        kind: "profile",
        seconds: within("job.profile.seconds", work.value.seconds, { min: 1, max: 120 }),
        frequencyHz: within("job.profile.frequency", work.value.frequencyHz, { min: 1, max: 999 }),
        format: word("job.profile.format", work.value.format, oneOf(["folded", "pprof"])),
      };
    case "debugBundle":
      return {
        kind: "debugBundle",
        addresses: word("job.debug_bundle.addresses", work.value.addresses, oneOf(["keep", "redact"])),
      };
    case "trace":
      return {
        kind: "trace",
        target: parsed("job.trace.target", ipFromBytes(work.value.target)),
        hopsMax: within("job.trace.hops_max", work.value.hopsMax, { min: 1, max: TRACE_HOPS_MAX }),
      };
    case "mtuProbe":
      return { kind: "mtuProbe", target: parsed("job.mtu_probe.target", ipFromBytes(work.value.target)) };
    case "throughput":
      return throughputFromWire(work.value);
    case "restart":
      return { kind: "restart", what: word("job.restart.what", work.value.what, oneOf(["engine", "agent"])) };
    case undefined:
      throw new FieldError("job.work", "a kind of work that this version does not know");
  }
}

function throughputFromWire(work: MessageShape<typeof ThroughputWorkSchema>): JobWork {
  return {
    kind: "throughput",
    role: word("job.throughput.role", work.role, oneOf(["receive", "send"])),
    peer: parsed("job.throughput.peer", ipFromBytes(work.peer)),
    port: within("job.throughput.port", work.port, { min: 1, max: 65_535 }),
    seconds: within("job.throughput.seconds", work.seconds, { min: 1, max: THROUGHPUT_SECONDS_MAX }),
    rate: safeNumber("job.throughput.rate", work.rate),
    secret: sized("job.throughput.secret", work.secret, HASH_BYTES),
  };
}
