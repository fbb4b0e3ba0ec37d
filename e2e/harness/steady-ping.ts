import { argv } from "./argv.ts";
import { startProgram } from "./programs.ts";
import type { Road } from "./traffic.ts";

/** Echo requests that go on until told to stop, with the time of every answer. */
export type SteadyPing = {
  /** Milliseconds since 1970 of each answer so far. */
  readonly answersAtMs: readonly number[];
  readonly stop: () => Promise<{ readonly sent: number; readonly received: number }>;
};

/** Starts sending echo requests at an interval. */
export function startSteadyPing(road: Road, intervalMs: number): SteadyPing {
  const answersAtMs: number[] = [];
  const program = startProgram({
    name: `ping ${road.address}`,
    program: "ping",
    args: argv`-n -i ${intervalMs / 1_000} ${road.address}`,
    host: road.from,
    onLine: (line) => {
      if (line.includes("bytes from")) answersAtMs.push(Date.now());
    },
  });
  return {
    answersAtMs,
    async stop() {
      program.signal("SIGINT");
      await program.ended;
      const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(program.logs()) ?? [];
      return { sent: Number(sent ?? 0), received: Number(received ?? 0) };
    },
  };
}
