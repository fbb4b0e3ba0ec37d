import { createReadStream } from "node:fs";
import { fileURLToPath } from "node:url";
import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";

/** Reads a feed from `https://…` or `file://…`, at most so many bytes and for so long; redirects are not followed. */
export async function fetchFeed(
  feed: URL,
  bounds: { readonly bytesMax: number; readonly timeoutMs: number; readonly version: string },
): Promise<Result<string, string>> {
  const signal = AbortSignal.timeout(bounds.timeoutMs);
  try {
    const parts = feed.protocol === "file:" ? fileParts(feed, signal) : await answerParts(feed, bounds.version, signal);
    return parts.ok ? await textOf(parts.value, bounds.bytesMax) : parts;
  } catch (error) {
    return err(signal.aborted ? "no answer in time" : reasonOf(error));
  }
}

async function answerParts(
  feed: URL,
  version: string,
  signal: AbortSignal,
): Promise<Result<AsyncIterable<Uint8Array>, string>> {
  const headers = { accept: "application/json", "user-agent": `weft/${version}` };
  const response = await fetch(feed, { headers, redirect: "manual", signal });
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    return err(`the feed was answered with ${response.status}`);
  }
  return ok(response.body);
}

function fileParts(feed: URL, signal: AbortSignal): Result<AsyncIterable<Uint8Array>, string> {
  return ok(createReadStream(fileURLToPath(feed), { signal }));
}

async function textOf(parts: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Result<string, string>> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    // Leaving the loop ends the stream.
    if (bytes > bytesMax) return err(`the feed is longer than ${bytesMax} bytes`);
    kept.push(part);
  }
  return ok(Buffer.concat(kept).toString("utf8"));
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, 300);
}
