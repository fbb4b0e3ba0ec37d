import {
  foldedStacks,
  pprofBytes,
  type CpuProfile,
  type CpuProfileOptions,
  type CpuProfileRecording,
  type Tunnel,
  type TunnelError,
} from "@weft/dataplane";
import { err, ok, type Result } from "@weft/protocol";

import type { Timers } from "../stream/timers.ts";

/** Records where the agent's processor time goes: one profile at a time, bounded in time and size. */
export type Profiling = {
  /** Begins; it ends by itself after `PROFILE_SECONDS_MAX`. */
  readonly start: (frequencyHz: number) => Promise<Result<{ readonly method: "started" }, ProfilingError>>;
  /** Ends what was begun. */
  readonly stop: (format: ProfileFormat) => Promise<Result<ProfileReport, ProfilingError>>;
  /** Begins, waits, ends. `gone` cuts the wait short. */
  readonly run: (wish: ProfileWish, gone: () => boolean) => Promise<Result<ProfileReport, ProfilingError>>;
};

export type ProfileFormat = "folded" | "pprof";
export type ProfileWish = { readonly seconds: number; readonly frequencyHz: number; readonly format: ProfileFormat };
export type ProfilingError = { readonly code: string; readonly message: string };

/** A finished profile; `data` is text for "folded", base64 of gzip for "pprof". */
export type ProfileReport = Omit<CpuProfile, "stacks"> & {
  readonly format: ProfileFormat;
  readonly samples: number;
  readonly threads: readonly string[];
  readonly data: string;
};

export type ProfilingDeps = {
  readonly timers: Timers;
  readonly tunnel: () => Tunnel | null;
  readonly record: (options: CpuProfileOptions) => Promise<Result<CpuProfileRecording, TunnelError>>;
};

export const PROFILE_SECONDS_MAX = 120;
export const PROFILE_BYTES_MAX = 16 * 1024 * 1024;

type State =
  | { readonly state: "idle" }
  | { readonly state: "starting" }
  | { readonly state: "recording"; readonly end: () => Promise<Result<CpuProfile, TunnelError>> };

export function createProfiling(deps: ProfilingDeps): Profiling {
  let current: State = { state: "idle" };

  const start = async (frequencyHz: number): Promise<Result<{ readonly method: "started" }, ProfilingError>> => {
    if (current.state !== "idle") return err(BUSY);
    current = { state: "starting" };
    const started = await deps.record({
      frequencyHz,
      durationMsMax: PROFILE_SECONDS_MAX * 1_000,
      atMost: "kernel",
      tunnel: deps.tunnel(),
    });
    if (!started.ok) {
      current = { state: "idle" };
      return err({ code: "profile_failed", message: started.error.message });
    }
    let ended: Promise<Result<CpuProfile, TunnelError>> | null = null;
    // The result of a profile that nobody stopped is kept until somebody asks.
    const cancel = deps.timers.after(PROFILE_SECONDS_MAX * 1_000, () => (ended ??= started.value.stop()));
    const end = (): Promise<Result<CpuProfile, TunnelError>> => {
      cancel();
      return (ended ??= started.value.stop());
    };
    current = { state: "recording", end };
    return ok({ method: "started" });
  };

  const stop = async (format: ProfileFormat): Promise<Result<ProfileReport, ProfilingError>> => {
    if (current.state !== "recording") return err(NOT_RECORDING);
    const { end } = current;
    current = { state: "idle" };
    const profile = await end();
    if (!profile.ok) return err({ code: "profile_failed", message: profile.error.message });
    return ok(reportOf(bounded(profile.value), format));
  };

  return {
    start,
    stop,
    async run({ seconds, frequencyHz, format }, gone) {
      const started = await start(frequencyHz);
      if (!started.ok) return started;
      const endsAtMs = deps.timers.nowMs() + seconds * 1_000;
      while (deps.timers.nowMs() < endsAtMs && !gone()) {
        const waitMs = Math.min(LOOK_EVERY_MS, Math.max(1, endsAtMs - deps.timers.nowMs()));
        await new Promise<void>((resolve) => void deps.timers.after(waitMs, resolve));
      }
      return stop(format);
    },
  };
}

/** Leaves out the rarest stacks until the rest fits; their samples count as lost. */
export function bounded(profile: CpuProfile, bytesMax: number = PROFILE_BYTES_MAX): CpuProfile {
  let bytes = 0;
  let lost = profile.lost;
  const stacks = profile.stacks.filter(({ thread, frames, count }) => {
    bytes += frames.reduce((sum, frame) => sum + frame.length + 1, thread.length + COUNT_BYTES);
    if (bytes > bytesMax) lost += count;
    return bytes <= bytesMax;
  });
  return { ...profile, stacks, lost };
}

function reportOf(profile: CpuProfile, format: ProfileFormat): ProfileReport {
  const { stacks, ...facts } = profile;
  return {
    ...facts,
    format,
    samples: stacks.reduce((sum, { count }) => sum + count, 0),
    threads: [...new Set(stacks.map(({ thread }) => thread))],
    data: format === "folded" ? foldedStacks(profile) : Buffer.from(pprofBytes(profile)).toString("base64"),
  };
}

const BUSY: ProfilingError = {
  code: "profile_busy",
  message: 'a profile is being recorded already; "weft profile stop" ends it',
};
const NOT_RECORDING: ProfilingError = {
  code: "profile_idle",
  message: 'no profile is being recorded; "weft profile start" begins one',
};
const LOOK_EVERY_MS = 200;
const COUNT_BYTES = 12;
