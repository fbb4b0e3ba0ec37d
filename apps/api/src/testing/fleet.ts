import { connectAgent } from "./simulated-agent.ts";
import type { SimulatedAgent } from "./simulated-agent.ts";

/** Joins so many nodes, a few at a time. */
export async function joinFleet(url: string, joinKey: string, count: number): Promise<SimulatedAgent[]> {
  const made: SimulatedAgent[] = [];
  let begun = 0;
  const lane = async () => {
    while (begun < count) {
      begun += 1;
      made.push(await connectAgent(url, { joinKey }));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return made;
}

const LANES = 8;
