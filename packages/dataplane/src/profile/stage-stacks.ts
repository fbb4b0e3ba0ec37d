import type { TunnelCounters } from "../tunnel.ts";
import type { CpuStack } from "./cpu-profile.ts";

/** Nanoseconds per shard and stage. */
export type StageTimes = ReadonlyMap<string, number>;

/** Reads how long each shard spent in each stage. */
export function stageTimes({ shards }: Pick<TunnelCounters, "shards">): StageTimes {
  const at = (row: number, name: string): number =>
    Number(shards.values[row * shards.columns.length + shards.columns.indexOf(name)] ?? 0n);
  const rows = Array.from({ length: shards.rows }, (_, row) => {
    const stage = shards.stageNames[at(row, "stage")] ?? "";
    return [`weft-shard-${at(row, "shard")};${stage}`, at(row, "nanoseconds")] as const;
  });
  return new Map(rows.filter(([name]) => !name.endsWith(";idle")));
}

/**
 * Where the system refuses stacks, the engine's own stage times stand in for them: the time of a worker is divided into its
 * stages, and what they do not explain stays with the thread.
 */
export function withStages(
  stacks: readonly CpuStack[],
  times: { readonly before: StageTimes; readonly after: StageTimes; readonly frequencyHz: number },
): readonly CpuStack[] {
  const staged = [...times.after].flatMap(([name, after]): CpuStack[] => {
    const nanoseconds = after - (times.before.get(name) ?? 0);
    const count = Math.floor((nanoseconds * times.frequencyHz) / 1e9);
    const [thread = "", stage = ""] = name.split(";");
    return count > 0 ? [{ thread, frames: [stage], count }] : [];
  });
  const explained = new Map<string, number>();
  for (const { thread, count } of staged) explained.set(thread, (explained.get(thread) ?? 0) + count);
  const rest = stacks.map((stack) => ({ ...stack, count: stack.count - (explained.get(stack.thread) ?? 0) }));
  return [...staged, ...rest.filter(({ count }) => count > 0)];
}
