import type { Host } from "../../harness/namespaces.ts";

export type PingOptions = {
  readonly from: Host;
  readonly to: string;
  readonly count: number;
  readonly intervalMs: number;
};

export type PingResult = { readonly sent: number; readonly timesUs: readonly number[] };

/** Sends echo requests at a fixed interval and returns the round-trip time of each answer in microseconds. */
export async function ping(options: PingOptions): Promise<PingResult> {
  const result = await options.from.run(
    "ping",
    ["-n", "-c", String(options.count), "-i", String(options.intervalMs / 1_000), "-W", "1", options.to],
    { timeoutMs: options.count * options.intervalMs + 15_000 },
  );
  const timesUs = [...result.stdout.matchAll(/time=([\d.]+) ms/g)].map((match) => Number(match[1]) * 1_000);
  if (timesUs.length === 0)
    throw new Error(`no echo from ${options.to}: ${(result.stderr || result.stdout).slice(-300)}`);
  return { sent: options.count, timesUs };
}

/** Whether one echo request is answered within a second. */
export async function answersPing(from: Host, to: string): Promise<boolean> {
  return (await from.run("ping", ["-n", "-c", "1", "-W", "1", to])).code === 0;
}
