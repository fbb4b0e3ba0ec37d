import { rcodeOf, RCODES, ttlPlaces, type DnsQuery } from "./dns-message.ts";

/** Answers of other servers, for as long as they allow within bounds. */
export type AnswerCache = {
  /** The answer with the lifetimes that are left, under the id and spelling of this query. */
  readonly get: (query: DnsQuery) => Buffer | null;
  readonly put: (query: DnsQuery, answer: Buffer) => void;
  readonly clear: () => void;
};

export function createAnswerCache(nowMs: () => number): AnswerCache {
  /** Oldest use first. */
  const entries = new Map<string, Entry>();
  let bytes = 0;
  const drop = (key: string): void => {
    bytes -= entries.get(key)?.answer.length ?? 0;
    entries.delete(key);
  };
  return {
    get(query) {
      const entry = entries.get(query.key);
      if (!entry) return null;
      const ageSeconds = Math.floor((nowMs() - entry.storedMs) / 1_000);
      entries.delete(query.key);
      if (ageSeconds >= entry.lifetimeSeconds) {
        bytes -= entry.answer.length;
        return null;
      }
      entries.set(query.key, entry);
      const answer = Buffer.from(entry.answer);
      for (const place of entry.places) {
        answer.writeUInt32BE(Math.max(answer.readUInt32BE(place) - ageSeconds, 0), place);
      }
      // The asker may write the name in its own upper and lower case, and looks for just that.
      query.bytes.copy(answer, 12, 12, query.questionEnd);
      answer.writeUInt16BE(query.id, 0);
      return answer;
    },
    put(query, answer) {
      const places = ttlPlaces(answer);
      const rcode = rcodeOf(answer);
      if (!places || places.length === 0 || (rcode !== RCODES.NOERROR && rcode !== RCODES.NXDOMAIN)) return;
      const isPositive = answer.readUInt16BE(6) > 0;
      const lifetimeSeconds = Math.min(
        isPositive ? LIFETIME_SECONDS_MAX : NEGATIVE_SECONDS_MAX,
        ...places.map((place) => answer.readUInt32BE(place)),
      );
      if (lifetimeSeconds === 0) return;
      drop(query.key);
      entries.set(query.key, { answer: Buffer.from(answer), places, storedMs: nowMs(), lifetimeSeconds });
      bytes += answer.length;
      for (const key of entries.keys()) {
        if (entries.size <= ENTRIES_MAX && bytes <= BYTES_MAX) break;
        drop(key);
      }
    },
    clear() {
      entries.clear();
      bytes = 0;
    },
  };
}

type Entry = {
  readonly answer: Buffer;
  readonly places: readonly number[];
  readonly storedMs: number;
  readonly lifetimeSeconds: number;
};

const LIFETIME_SECONDS_MAX = 300;
const NEGATIVE_SECONDS_MAX = 30;
const ENTRIES_MAX = 2_000;
const BYTES_MAX = 2 * 1024 * 1024;
