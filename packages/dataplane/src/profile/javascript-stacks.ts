import type { Profiler } from "node:inspector";
import { type CpuStack, JAVASCRIPT_THREAD } from "./cpu-profile.ts";

/** Turns a profile of V8 into stacks; time in which the thread slept is left out. */
export function javascriptStacks(profile: Profiler.Profile): readonly CpuStack[] {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
  return profile.nodes.flatMap((node) => {
    const count = node.hitCount ?? 0;
    if (count === 0 || node.callFrame.functionName === "(idle)") return [];
    const frames: string[] = [];
    for (let at: Profiler.ProfileNode | undefined = node; at; at = nodes.get(parents.get(at.id) ?? NO_NODE)) {
      if (at.callFrame.functionName !== "(root)") frames.push(frameName(at.callFrame));
    }
    return [{ thread: JAVASCRIPT_THREAD, frames: frames.toReversed(), count }];
  });
}

function frameName({ functionName, url, lineNumber }: Profiler.ProfileNode["callFrame"]): string {
  const name = functionName === "" ? "(anonymous)" : functionName;
  // The last parts say which file it is; the rest says only where this program is installed.
  const file = url.split("/").slice(-FILE_PARTS).join("/");
  return file === "" ? name : `${name} ${file}:${lineNumber + 1}`;
}

const FILE_PARTS = 2;
/** V8 counts from 1. */
const NO_NODE = 0;
