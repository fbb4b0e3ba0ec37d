/** What the threads of this process did over some time. */
export type CpuProfile = {
  /** `kernel`: stacks of user space and kernel; `user`: of user space; `threads`: processor times without stacks. */
  readonly method: "kernel" | "user" | "threads";
  /** Why the method is not the best one. */
  readonly reason: string | null;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** Samples per second; one sample stands for 1 / frequencyHz seconds. */
  readonly frequencyHz: number;
  /** Samples that found no room. */
  readonly lost: number;
  readonly stacks: readonly CpuStack[];
};

/** One stack and how often it was seen. */
export type CpuStack = {
  readonly thread: string;
  /** Functions, outermost first. */
  readonly frames: readonly string[];
  readonly count: number;
};

/** Name of the thread that runs JavaScript, as its own profiler sees it. */
export const JAVASCRIPT_THREAD = "javascript";
