import { guardsBelow, type PathBounds, sizeBetween } from "./path-mtu-sizes.ts";

/**
 * How large datagrams may be on one path, found out as RFC 8899 says: probes inside the tunnel, three tries a size, smaller sizes
 * beside them so that a path that is down is not taken for a narrow one. Pure: `stepPathMtu(path, input, nowMs)`.
 */
export type PathMtu = {
  readonly bounds: PathBounds;
  /** Largest datagram that is sent at present, UDP payload bytes. */
  readonly limit: number;
  readonly phase: PathMtuPhase;
  readonly round: Round | null;
  /** Probes that may still be answered. An answer proves its size, however late it comes. */
  readonly asked: readonly PathProbe[];
  /** Less than what is proven, reported by the system while a round asks for the truth: anybody can forge such a report. */
  readonly hint: number | null;
  /** When the present size is looked at again, because large datagrams are under way. */
  readonly verifyAtMs: number | null;
  readonly nextId: number;
};

export type PathMtuPhase =
  /** Nothing is known: the usual size is used. */
  | { readonly state: "assumed" }
  /** `above` passed, `below` did not, was reported, or is out of bounds. Larger sizes are tried again `raiseAfterMs` after the end. */
  | ({ readonly state: "searching" } & Range)
  /** The size passed; larger ones are tried again from `raiseAtMs` on. */
  | { readonly state: "verified"; readonly atMs: number; readonly raiseAtMs: number }
  /** No router objects, nobody has confirmed it: what the system reported. */
  | { readonly state: "reported"; readonly atMs: number; readonly raiseAtMs: number }
  /** Not even small probes were answered: nothing follows from that. */
  | { readonly state: "unanswered"; readonly atMs: number };

/** One size under test. */
type Round = {
  readonly target: number;
  readonly attempt: number;
  readonly dueAtMs: number;
  /** Largest of the smaller sizes that was answered; 0 = none. */
  readonly guard: number;
};

type Range = { readonly above: number; readonly below: number; readonly raiseAfterMs: number };

export type PathProbe = { readonly id: number; readonly size: number };

export type PathInput =
  | { readonly kind: "start" }
  | { readonly kind: "timeout" }
  | { readonly kind: "answered"; readonly id: number; readonly size: number }
  /** The system refuses datagrams above this. */
  | { readonly kind: "too-big"; readonly payload: number }
  | { readonly kind: "large-sent" }
  | { readonly kind: "bounds"; readonly bounds: PathBounds };

export type PathStep = { readonly path: PathMtu; readonly probes: readonly PathProbe[] };

/** `nextId`: no probe of an earlier path to the peer had it or a higher one, so that late answers to those say nothing here. */
export function createPathMtu(bounds: PathBounds, nextId = 1): PathMtu {
  const limit = bounds.assumed;
  return { bounds, limit, phase: { state: "assumed" }, round: null, asked: [], hint: null, verifyAtMs: null, nextId };
}

/** Whether the present size has crossed the path: then no report of the system counts more than that. */
export function isProven({ phase }: PathMtu): boolean {
  return phase.state === "searching" || phase.state === "verified";
}

export function stepPathMtu(path: PathMtu, input: PathInput, nowMs: number): PathStep {
  switch (input.kind) {
    case "start":
      return startRound(path, path.limit, nowMs);
    case "timeout":
      return handleTimeout(path, nowMs);
    case "answered":
      return handleAnswer(path, input, nowMs);
    case "too-big":
      return handleTooBig(path, input.payload, nowMs);
    case "large-sent":
      return quiet(path.round ? path : { ...path, verifyAtMs: verifyAtMs(path.phase, nowMs) });
    case "bounds":
      return handleBounds(path, input.bounds);
  }
}

/** When `timeout` wants to be fed. */
export function pathMtuDueAtMs(path: PathMtu): number | null {
  return path.round?.dueAtMs ?? path.verifyAtMs;
}

function quiet(path: PathMtu): PathStep {
  return { path, probes: [] };
}

function startRound(path: PathMtu, target: number, nowMs: number): PathStep {
  const round = { target, attempt: 0, dueAtMs: nowMs, guard: 0 };
  return nextAttempt({ ...path, verifyAtMs: null }, round, nowMs);
}

/** The first attempt tries the size alone; the others bring smaller ones along. */
function nextAttempt(path: PathMtu, round: Round, nowMs: number): PathStep {
  const guards = round.attempt === 0 ? [] : smallerSizes(path, round).filter((size) => size > round.guard);
  const probes = [round.target, ...guards].map((size, at) => ({ id: path.nextId + at, size }));
  const next: Round = { ...round, attempt: round.attempt + 1, dueAtMs: nowMs + PROBE_TIMEOUT_MS };
  const asked = [...path.asked, ...probes].slice(-ASKED_MAX);
  return { path: { ...path, round: next, asked, nextId: path.nextId + probes.length }, probes };
}

function smallerSizes({ bounds, hint }: PathMtu, { target }: Round): readonly number[] {
  const guards = guardsBelow(target, bounds);
  return hint === null || hint >= target || guards.includes(hint) ? guards : [hint, ...guards];
}

function handleTimeout(path: PathMtu, nowMs: number): PathStep {
  const { round, verifyAtMs: dueAtMs, phase } = path;
  if (round) {
    if (round.dueAtMs > nowMs) return quiet(path);
    return round.attempt < PROBES_MAX ? nextAttempt(path, round, nowMs) : handleLost(path, round, nowMs);
  }
  if (dueAtMs === null || dueAtMs > nowMs) return quiet(path);
  if ("raiseAtMs" in phase && phase.raiseAtMs <= nowMs && path.limit < path.bounds.max) {
    return search(path, wholeRange(path, path.limit), nowMs);
  }
  return startRound(path, path.limit, nowMs);
}

/** All attempts of a size went unanswered: an answer that came now would be about the path of a while ago. */
function handleLost(before: PathMtu, round: Round, nowMs: number): PathStep {
  const path = { ...before, hint: null, asked: before.asked.filter(({ size }) => size < round.target) };
  const { phase } = path;
  if (phase.state === "searching") return search(path, { ...phase, below: round.target }, nowMs);
  if (round.guard === 0) return quiet({ ...path, round: null, phase: { state: "unanswered", atMs: nowMs } });
  const range = { above: round.guard, below: round.target, raiseAfterMs: RAISE_AFTER_MS };
  return search({ ...path, limit: round.guard }, range, nowMs);
}

function handleAnswer(before: PathMtu, answer: PathProbe, nowMs: number): PathStep {
  const { phase } = before;
  if (!before.asked.some(({ id, size }) => id === answer.id && size === answer.size)) return quiet(before);
  const path = { ...before, asked: before.asked.filter(({ id }) => id !== answer.id) };
  const { round, hint } = path;
  if (answer.size !== round?.target) {
    if (answer.size > path.limit) return handleProof(path, answer.size, nowMs);
    if (!round) return quiet(path);
    if (answer.size === hint && hint < path.limit) return followHint(path, hint, nowMs);
    return quiet({ ...path, round: { ...round, guard: Math.max(round.guard, answer.size) } });
  }
  const passed = { ...path, limit: answer.size, round: null, hint: null };
  if (phase.state === "searching") return search(passed, { ...phase, above: answer.size }, nowMs);
  if ("raiseAtMs" in phase) {
    return quiet({ ...passed, phase: { state: "verified", atMs: nowMs, raiseAtMs: phase.raiseAtMs } });
  }
  return search(passed, wholeRange(path, answer.size), nowMs);
}

/** Everything above a size that passed. */
function wholeRange({ bounds }: PathMtu, above: number): Range {
  return { above, below: bounds.max + 1, raiseAfterMs: RAISE_AFTER_MS };
}

/** More passes than what is used, whatever was reported meanwhile. */
function handleProof(path: PathMtu, size: number, nowMs: number): PathStep {
  const { phase, round } = path;
  const range = phase.state === "searching" && phase.below > size ? { ...phase, above: size } : wholeRange(path, size);
  const proven = { ...path, limit: size, hint: null };
  if (phase.state !== "searching" || !round || round.target <= size) return search(proven, range, nowMs);
  return quiet({ ...proven, phase: { ...range, state: "searching" } });
}

/** The reported size passes, and what was proven before has gone unanswered for a while: the report is true. */
function followHint(path: PathMtu, size: number, nowMs: number): PathStep {
  const phase = { state: "verified", atMs: nowMs, raiseAtMs: nowMs + REPORT_HOLDS_MS } as const;
  return quiet({ ...path, limit: size, phase, round: null, hint: null });
}

/** Tries the next size, or ends the search at the largest that passed. */
function search(path: PathMtu, { above, below, raiseAfterMs }: Range, nowMs: number): PathStep {
  const size = sizeBetween(above, below, path.bounds);
  if (size !== null) {
    return startRound({ ...path, phase: { state: "searching", above, below, raiseAfterMs } }, size, nowMs);
  }
  const phase = { state: "verified", atMs: nowMs, raiseAtMs: nowMs + raiseAfterMs } as const;
  return quiet({ ...path, limit: above, phase, round: null });
}

/**
 * The system believes in a bound, learnt from a router or its own device. While nothing is proven it refuses larger datagrams, so there is
 * no choice but to follow; whether even this size passes is asked at once. What is proven stays until the peer does not answer there.
 */
function handleTooBig(path: PathMtu, reported: number, nowMs: number): PathStep {
  const payload = Math.max(reported, path.bounds.floor);
  const { phase } = path;
  // A search goes on whatever is claimed of sizes that passed; the look at the present size comes after it.
  if (payload < path.limit && phase.state === "searching") return quiet(path);
  if (payload < path.limit && phase.state === "verified") return doubt(path, payload, nowMs);
  if (payload < path.limit) {
    const told = { state: "reported", atMs: nowMs, raiseAtMs: nowMs + REPORT_HOLDS_MS } as const;
    return startRound({ ...path, limit: payload, phase: told }, payload, nowMs);
  }
  if (phase.state !== "searching" || payload >= phase.below) return quiet(path);
  if (payload < phase.above) return quiet(path);
  // Anybody can send a report: what it rules out is asked about again soon.
  const narrowed = { above: phase.above, below: payload + 1, raiseAfterMs: REPORT_HOLDS_MS };
  if (payload === phase.above) return search(path, narrowed, nowMs);
  const next = { ...path, phase: { ...phase, ...narrowed } };
  return path.round?.target === payload ? quiet(next) : startRound(next, payload, nowMs);
}

/** Asks again for the size that is proven, and for the reported one if no answer comes. */
function doubt(path: PathMtu, hint: number, nowMs: number): PathStep {
  return path.round ? quiet({ ...path, hint }) : startRound({ ...path, hint }, path.limit, nowMs);
}

function handleBounds(path: PathMtu, bounds: PathBounds): PathStep {
  const { phase } = path;
  const limit = Math.min(path.limit, bounds.max);
  const wider = bounds.max > path.bounds.max && "raiseAtMs" in phase;
  return quiet({ ...path, bounds, limit, phase: wider ? { ...phase, raiseAtMs: phase.atMs } : phase });
}

function verifyAtMs(phase: PathMtuPhase, nowMs: number): number {
  switch (phase.state) {
    case "assumed":
    case "searching":
      return nowMs;
    case "verified":
    case "reported":
      return Math.max(nowMs, phase.atMs + VERIFY_PAUSE_MS);
    case "unanswered":
      return Math.max(nowMs, phase.atMs + UNANSWERED_PAUSE_MS);
  }
}

/** RFC 8899: an answer may take this long. */
export const PROBE_TIMEOUT_MS = 1_000;
/** RFC 8899: a size is given up after so many probes. */
export const PROBES_MAX = 3;
/** Pause after a size passed, while large datagrams go out: bounds how long a new black hole stays unnoticed. */
export const VERIFY_PAUSE_MS = 5_000;
/** Pause after nothing at all was answered. */
export const UNANSWERED_PAUSE_MS = 30_000;
/** RFC 8899: larger sizes are tried again after this. */
export const RAISE_AFTER_MS = 600_000;
/** A size that was only reported is held for so long; then larger ones are tried. */
export const REPORT_HOLDS_MS = 60_000;
/** Probes that are waited for: those of two rounds. */
const ASKED_MAX = 24;
