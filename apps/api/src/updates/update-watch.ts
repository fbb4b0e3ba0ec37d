import { readFile, rename, writeFile } from "node:fs/promises";
import type { RandomBytes } from "@weft/protocol";
import { z } from "zod";
import type { UpdateNotice, UpdateNotices, WallClock } from "../registry/feature-deps.ts";
import { fetchFeed } from "./fetch-feed.ts";
import { newerRelease, readFeed } from "./release-feed.ts";

export type UpdateWatch = UpdateNotices & {
  /** Asks the feed when its time has come; called about once a minute. */
  readonly turn: () => Promise<void>;
};

/** What was learnt last; kept on disk, so that restarts do not ask again. */
const KeptSchema = z.object({
  feed: z.string(),
  checkedAtMs: z.number(),
  /** The first moment at which the feed may be asked again. */
  nextAtMs: z.number(),
  text: z.string().nullable(),
  failure: z.string().nullable(),
});
type Kept = z.output<typeof KeptSchema>;

/** Looks at a feed of releases at most once a day, at no particular time of it. Without a feed it does nothing at all. */
export function createUpdateWatch(deps: {
  readonly feed: URL | undefined;
  readonly version: string;
  readonly file: string;
  readonly clock: WallClock;
  readonly random: RandomBytes;
  readonly onError: (error: unknown) => void;
}): UpdateWatch {
  const { feed, version, file, clock, random } = deps;
  if (!feed) return { notice: () => OFF, turn: () => Promise.resolve() };
  const share = () => ((random(1)[0] ?? 0) * 256 + (random(1)[0] ?? 0)) / 65_536;
  let kept: Kept | undefined;
  let isRead = false;
  const firstAtMs = clock.nowMs() + share() * FIRST_JITTER_MS;

  const read = async (): Promise<void> => {
    isRead = true;
    const found = await readKept(file);
    // Another feed is asked anew.
    if (found?.feed === feed.href) kept = found;
  };
  const ask = async (): Promise<void> => {
    const answer = await fetchFeed(feed, { bytesMax: BYTES_MAX, timeoutMs: TIMEOUT_MS, version });
    const releases = answer.ok ? readFeed(answer.value) : answer;
    const nowMs = clock.nowMs();
    kept = {
      feed: feed.href,
      checkedAtMs: nowMs,
      nextAtMs: nowMs + DAY_MS + share() * JITTER_MS,
      // What was known before is still true when the feed fails once.
      text: releases.ok ? JSON.stringify({ releases: releases.value }) : (kept?.text ?? null),
      failure: releases.ok ? null : releases.error,
    };
    if (!releases.ok) deps.onError(new Error(releases.error));
    await writeFile(`${file}.new`, JSON.stringify(kept), { mode: 0o600 });
    await rename(`${file}.new`, file);
  };
  return {
    notice: () => (kept ? noticeOf(kept, version) : UNKNOWN),
    async turn() {
      if (!isRead) await read();
      if (clock.nowMs() >= (kept?.nextAtMs ?? firstAtMs)) await ask();
    },
  };
}

function noticeOf({ checkedAtMs, text, failure }: Kept, running: string): UpdateNotice {
  const releases = text === null ? undefined : readFeed(text);
  const checkedAt = new Date(checkedAtMs).toISOString();
  const release = releases?.ok ? newerRelease(releases.value, running) : undefined;
  if (release) {
    const { version, url, severity, summary } = release;
    return { state: "available", release: { version, url, severity, summary }, checkedAt, failure };
  }
  return { state: releases?.ok ? "current" : "unknown", release: null, checkedAt, failure };
}

/** A file that is missing or damaged says nothing; the feed is asked again. */
async function readKept(file: string): Promise<Kept | undefined> {
  try {
    const parsed = KeptSchema.safeParse(JSON.parse(await readFile(file, "utf8")));
    return parsed.data;
  } catch {
    return undefined;
  }
}

const OFF: UpdateNotice = { state: "off", release: null, checkedAt: null, failure: null };
const UNKNOWN: UpdateNotice = { state: "unknown", release: null, checkedAt: null, failure: null };
const DAY_MS = 24 * 3_600_000;
/** A feed is not asked by all servers at the same moment. */
const JITTER_MS = 2 * 3_600_000;
const FIRST_JITTER_MS = 15 * 60_000;
const BYTES_MAX = 128 * 1_024;
const TIMEOUT_MS = 15_000;
