import type { EngineTuning } from "@weft/dataplane";
import { err, ok, type Result } from "@weft/protocol";

/** A variable of the environment that holds nothing we understand. */
export type TuningError = { readonly code: "bad_environment"; readonly message: string };

/** Reads the engine's tuning from the environment; unset variables leave the engine's defaults. */
export function engineTuning(environment: NodeJS.ProcessEnv): Result<EngineTuning, TuningError> {
  const tunOffload = choice(environment, "WEFT_TUN_OFFLOAD", ["auto", "tcp", "off"]);
  const udpGso = choice(environment, "WEFT_UDP_GSO", ["auto", "off"]);
  const udpGro = choice(environment, "WEFT_UDP_GRO", ["auto", "off"]);
  const shards = number(environment, "WEFT_SHARDS", { min: 1, max: 64 });
  const niceness = number(environment, "WEFT_NICENESS", { min: -20, max: 19 });
  const firewallMark = number(environment, "WEFT_FIREWALL_MARK", { min: 0, max: 0xffff_ffff });
  const stageTiming = choice(environment, "WEFT_STAGE_TIMING", ["on", "off"]);
  const rekeyAfterSeconds = number(environment, "WEFT_REKEY_AFTER_SECONDS", { min: 2, max: 120 });
  for (const read of [tunOffload, udpGso, udpGro, shards, niceness, firewallMark, stageTiming, rekeyAfterSeconds])
    if (!read.ok) return read;
  return ok({
    ...defined("tunOffload", tunOffload),
    ...defined("udpGso", udpGso),
    ...defined("udpGro", udpGro),
    ...defined("shards", shards),
    ...defined("niceness", niceness),
    ...defined("firewallMark", firewallMark),
    ...defined("stageTiming", stageTiming),
    ...defined("rekeyAfterSeconds", rekeyAfterSeconds),
  });
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

function bad(message: string): { readonly ok: false; readonly error: TuningError } {
  return err({ code: "bad_environment", message });
}

function defined<Name extends string, T>(name: Name, read: Read<T>): { readonly [key in Name]?: T } {
  // A computed key widens to string; the cast-free way is Object.fromEntries with a known single entry.
  const entry: { [key in Name]?: T } = {};
  if (read.ok && read.value !== undefined) entry[name] = read.value;
  return entry;
}
