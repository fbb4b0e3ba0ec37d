import type { Writable } from "node:stream";

/**
 * Resolves when everything written so far has left this process, or nobody reads it any more. Standard output is a socket where
 * a program started us, and its writes end as fast as the reader takes them: to end the process before cuts them off.
 */
export async function finishOutput(streams: readonly Writable[]): Promise<void> {
  await Promise.all(streams.map((stream) => new Promise<void>((resolve) => void stream.write("", () => resolve()))));
}

/** Lets a program go on whose output nobody reads any more (`weft status | head -1`). Other faults, as a full disk, end it. */
export function outliveReaders(streams: readonly Writable[]): void {
  for (const stream of streams) {
    stream.on("error", (error) => {
      if (!("code" in error && error.code === "EPIPE")) throw error;
    });
  }
}
