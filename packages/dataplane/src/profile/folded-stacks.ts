import type { CpuProfile } from "./cpu-profile.ts";

/** One line per stack: thread and functions joined by semicolons, outermost first, then a space and the samples. */
export function foldedStacks(profile: CpuProfile): string {
  return profile.stacks
    .map(({ thread, frames, count }) => `${[thread, ...frames].map(foldable).join(";")} ${count}\n`)
    .join("");
}

/** Semicolons and line ends separate; nothing else may hold them, and nothing is empty. */
function foldable(name: string): string {
  return name.trim() === "" ? "[unknown]" : name.replaceAll(/[;\r\n]/g, ":");
}
