import type { CipherWish, EngineTuning, LaneWish } from "@weft/dataplane";
import { err, LANES_OFFERED_MAX, ok, type Result } from "@weft/protocol";

/** A variable of the environment that holds nothing we understand. */
export type TuningError = { readonly code: "bad_environment"; readonly message: string };

/** Reads the engine's tuning from the environment; unset variables leave the engine's defaults. */
export function engineTuning(environment: NodeJS.ProcessEnv): Result<EngineTuning, TuningError> {
  const reads = {
    tunOffload: choice(environment, "WEFT_TUN_OFFLOAD", ["auto", "tcp", "off"]),
    udpGso: choice(environment, "WEFT_UDP_GSO", ["auto", "off"]),
    udpGro: choice(environment, "WEFT_UDP_GRO", ["auto", "off"]),
    udpBatch: choice(environment, "WEFT_UDP_BATCH", ["auto", "off"]),
    io: choice(environment, "WEFT_IO", ["auto", "epoll", "io_uring"]),
    gsoMaxSegments: number(environment, "WEFT_GSO_MAX_SEGMENTS", { min: 2, max: 128 }),
    gsoEqualTail: choice(environment, "WEFT_GSO_EQUAL_TAIL", ["auto", "allow", "avoid"]),
    groFlows: number(environment, "WEFT_GRO_FLOWS", { min: 1, max: 1_024 }),
    udpPortsNeverMerged: ports(environment, "WEFT_UDP_PORTS_NEVER_MERGED"),
    tunQueueLen: number(environment, "WEFT_TUN_QUEUE_LEN", { min: 1, max: 1_000_000 }),
    socketBufferBytes: number(environment, "WEFT_SOCKET_BUFFER_BYTES", { min: 4_096, max: 1 << 30 }),
    checksumElision: choice(environment, "WEFT_CHECKSUM_ELISION", ["auto", "off"]),
    shards: number(environment, "WEFT_SHARDS", { min: 1, max: 64 }),
    niceness: number(environment, "WEFT_NICENESS", { min: -20, max: 19 }),
    firewallMark: number(environment, "WEFT_FIREWALL_MARK", { min: 0, max: 0xffff_ffff }),
    stageTiming: choice(environment, "WEFT_STAGE_TIMING", ["on", "off"]),
    rekeyAfterSeconds: number(environment, "WEFT_REKEY_AFTER_SECONDS", { min: 2, max: 120 }),
  };
  for (const read of Object.values(reads)) if (!read.ok) return read;
  return ok({
    ...defined("tunOffload", reads.tunOffload),
    ...defined("udpGso", reads.udpGso),
    ...defined("udpGro", reads.udpGro),
    ...defined("udpBatch", reads.udpBatch),
    ...defined("io", reads.io),
    ...defined("gsoMaxSegments", reads.gsoMaxSegments),
    ...defined("gsoEqualTail", reads.gsoEqualTail),
    ...defined("groFlows", reads.groFlows),
    ...defined("udpPortsNeverMerged", reads.udpPortsNeverMerged),
    ...defined("tunQueueLen", reads.tunQueueLen),
    ...defined("socketBufferBytes", reads.socketBufferBytes),
    ...defined("checksumElision", reads.checksumElision),
    ...defined("shards", reads.shards),
    ...defined("niceness", reads.niceness),
    ...defined("firewallMark", reads.firewallMark),
    ...defined("stageTiming", reads.stageTiming),
    ...defined("rekeyAfterSeconds", reads.rekeyAfterSeconds),
  });
}

/** Reads which cipher is offered to other agents; unset = the faster one. */
export function cipherWish(environment: NodeJS.ProcessEnv): Result<CipherWish, TuningError> {
  const read = choice(environment, "WEFT_CIPHER", ["auto", "chacha20", "aes-256-gcm"]);
  return read.ok ? ok(read.value ?? "auto") : read;
}

/** Reads how many UDP source ports are offered to other agents; unset = as many as help. */
export function laneWish(environment: NodeJS.ProcessEnv): Result<LaneWish, TuningError> {
  const text = environment["WEFT_LANES"];
  if (text === undefined || text === "" || text === "auto") return ok("auto");
  if (text === "off") return ok("off");
  if (/^[1-8]$/.test(text)) return ok(Number(text));
  return bad(`WEFT_LANES must be auto, off or a number from 1 to ${LANES_OFFERED_MAX}, not "${text}"`);
}

type Read<T> = Result<T | undefined, TuningError>;

function choice<const T extends string>(environment: NodeJS.ProcessEnv, name: string, words: readonly T[]): Read<T> {
  const text = environment[name];
  if (text === undefined || text === "") return ok(undefined);
  const found = words.find((word) => word === text);
  return found === undefined ? bad(`${name} must be one of ${words.join(", ")}, not "${text}"`) : ok(found);
}

function number(
  environment: NodeJS.ProcessEnv,
  name: string,
  bounds: { readonly min: number; readonly max: number },
): Read<number> {
  const text = environment[name];
  if (text === undefined || text === "") return ok(undefined);
  const value = Number(text);
  if (Number.isInteger(value) && value >= bounds.min && value <= bounds.max) return ok(value);
  return bad(`${name} must be a whole number from ${bounds.min} to ${bounds.max}, not "${text}"`);
}

/** Port numbers with commas between them; `none` for an empty list. */
function ports(environment: NodeJS.ProcessEnv, name: string): Read<number[]> {
  const text = environment[name];
  if (text === undefined || text === "") return ok(undefined);
  if (text === "none") return ok([]);
  const values = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (values.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535)) return ok(values);
  return bad(`${name} must be "none" or ports with commas between them, not "${text}"`);
}

function bad(message: string): { readonly ok: false; readonly error: TuningError } {
  return err({ code: "bad_environment", message });
}

function defined<Name extends string, T>(name: Name, read: Read<T>): { readonly [key in Name]?: T } {
  // A computed key widens to string; the cast-free way is Object.fromEntries with a known single entry.
  const entry: { [key in Name]?: T } = {};
  if (read.ok && read.value !== undefined) entry[name] = read.value;
  return entry;
}
