import { addressGroup } from "./address-group.ts";

/** Slows guessing down, per account and per address. */
export type LoginThrottle = {
  /** Counts an attempt before its secret is looked at; refused ones say how long to wait. */
  readonly begin: (subjects: LoginSubjects, nowMs: number) => { readonly allowed: true } | Refusal;
  /** Forgives the account after a success, so that its owner starts afresh. */
  readonly succeed: (subjects: LoginSubjects) => void;
};

type LoginSubjects = { readonly account: string; readonly address: string };
type Refusal = { readonly allowed: false; readonly retryAfterSeconds: number };
type Record = { attempts: number; blockedUntilMs: number; lastAttemptMs: number };

/**
 * After some free attempts each further one doubles the wait, up to a bound. Parallel guesses gain nothing: an
 * attempt counts when it begins. The right secret during the wait is refused as well.
 */
export function createLoginThrottle(): LoginThrottle {
  const accounts = createCounter(ACCOUNT_FREE);
  const addresses = createCounter(ADDRESS_FREE);
  return {
    begin({ account, address: from }, nowMs) {
      const address = addressGroup(from);
      const waitMs = Math.max(accounts.waitMs(account, nowMs), addresses.waitMs(address, nowMs));
      if (waitMs > 0) return { allowed: false, retryAfterSeconds: Math.ceil(waitMs / 1_000) };
      accounts.count(account, nowMs);
      addresses.count(address, nowMs);
      return { allowed: true };
    },
    succeed({ account, address }) {
      accounts.forget(account);
      addresses.forgive(addressGroup(address));
    },
  };
}

function createCounter(free: number) {
  const records = new Map<string, Record>();
  return {
    waitMs(subject: string, nowMs: number): number {
      const record = records.get(subject);
      return record ? Math.max(0, record.blockedUntilMs - nowMs) : 0;
    },
    count(subject: string, nowMs: number): void {
      const found = records.get(subject);
      const attempts = found && nowMs - found.lastAttemptMs < FORGET_MS ? found.attempts + 1 : 1;
      const waitMs = attempts < free ? 0 : Math.min(1_000 * 2 ** (attempts - free), WAIT_MS_MAX);
      records.delete(subject);
      records.set(subject, { attempts, blockedUntilMs: nowMs + waitMs, lastAttemptMs: nowMs });
      // Insertion order is age: the oldest goes when somebody floods us with names.
      if (records.size > SUBJECTS_MAX) for (const oldest of records.keys()) return void records.delete(oldest);
    },
    forget(subject: string): void {
      records.delete(subject);
    },
    forgive(subject: string): void {
      const record = records.get(subject);
      if (record) record.attempts = Math.max(0, record.attempts - 1);
    },
  };
}

const ACCOUNT_FREE = 5;
const ADDRESS_FREE = 20;
const WAIT_MS_MAX = 15 * 60_000;
const FORGET_MS = 60 * 60_000;
const SUBJECTS_MAX = 100_000;
