import { type Profiler, Session } from "node:inspector";
import type { Result } from "@weft/protocol";
import { fromNativeError, nativeAddon, type NativeCpuProfile, type NativeCpuProfiler } from "../native.ts";
import type { Tunnel, TunnelError } from "../tunnel.ts";
import type { CpuProfile, CpuStack } from "./cpu-profile.ts";
import { javascriptStacks } from "./javascript-stacks.ts";
import { stageTimes, withStages } from "./stage-stacks.ts";

export type CpuProfileOptions = {
  /** Samples per second of each thread, 1 to 999. */
  readonly frequencyHz: number;
  /** Native sampling ends by itself after this time, 1 to 120,000. */
  readonly durationMsMax: number;
  /** The best method that may be tried. */
  readonly atMost: CpuProfile["method"];
  /** The tunnel whose stage times stand in for stacks where the system refuses them. */
  readonly tunnel: Pick<Tunnel, "counters"> | null;
};

/** A profile being recorded. */
export type CpuProfileRecording = {
  /** Ends it; resolves when symbols are found. To be called once. */
  readonly stop: () => Promise<Result<CpuProfile, TunnelError>>;
};

/** Begins to sample all threads of this process, the JavaScript one by V8's own profiler. One at a time. */
export async function recordCpuProfile(options: CpuProfileOptions): Promise<Result<CpuProfileRecording, TunnelError>> {
  const addon = nativeAddon();
  if (!addon.ok) return addon;
  const { frequencyHz, durationMsMax, atMost } = options;
  const startedAtMs = Date.now();
  const before = options.tunnel ? stageTimes(options.tunnel.counters()) : new Map<string, number>();
  let native: NativeCpuProfiler;
  try {
    native = addon.value.CpuProfiler.start({ frequencyHz, durationMsMax, atMost });
  } catch (thrown) {
    return { ok: false, error: fromNativeError(thrown, "engine_failed") };
  }
  const javascript = await startJavascript(frequencyHz);
  return {
    ok: true,
    value: {
      async stop() {
        const after = options.tunnel ? stageTimes(options.tunnel.counters()) : before;
        const own = await javascript();
        try {
          const stopped = await native.stop();
          const stacks =
            stopped.method === "threads" ? withStages(stopped.stacks, { before, after, frequencyHz }) : stopped.stacks;
          return { ok: true, value: profileOf(stopped, merged(stacks, own), startedAtMs) };
        } catch (thrown) {
          return { ok: false, error: fromNativeError(thrown, "engine_failed") };
        }
      },
    },
  };
}

/** V8 sees the functions of the JavaScript thread; what the system saw of it would count its time twice. */
function merged(native: readonly CpuStack[], javascript: readonly CpuStack[]): readonly CpuStack[] {
  const rest = javascript.length > 0 ? native.filter(({ thread }) => thread !== MAIN_THREAD) : native;
  return [...rest, ...javascript].toSorted((left, right) => right.count - left.count);
}

function profileOf(native: NativeCpuProfile, stacks: readonly CpuStack[], startedAtMs: number): CpuProfile {
  const { method, reason, durationMs, frequencyHz, lost } = native;
  return { method, reason: reason ?? null, startedAtMs, durationMs, frequencyHz, lost, stacks };
}

/** Starts V8's profiler; the result ends it. Without it, the native view of the thread remains. */
async function startJavascript(frequencyHz: number): Promise<() => Promise<readonly CpuStack[]>> {
  const session = new Session();
  session.connect();
  const post = (method: string, parameters: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      session.post(method, parameters, (error, result) => (error ? reject(error) : resolve(result)));
    });
  try {
    await post("Profiler.enable");
    await post("Profiler.setSamplingInterval", { interval: Math.round(1e6 / frequencyHz) });
    await post("Profiler.start");
  } catch {
    session.disconnect();
    return () => Promise.resolve([]);
  }
  return async () => {
    try {
      return await new Promise<readonly CpuStack[]>((resolve, reject) => {
        session.post("Profiler.stop", (error, result: Profiler.StopReturnType) =>
          error ? reject(error) : resolve(javascriptStacks(result.profile)),
        );
      });
    } catch {
      return [];
    } finally {
      session.disconnect();
    }
  };
}

const MAIN_THREAD = "main";
