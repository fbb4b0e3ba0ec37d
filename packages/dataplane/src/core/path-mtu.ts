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
  /** When the present size is looked at again, because large datagrams are under way. */
  readonly verifyAtMs: number | null;
  readonly nextId: number;
};

export type PathMtuPhase =
  /** Nothing is known: the usual size is used. */
  | { readonly state: "assumed" }
  /** `above` passed, `below` did not or is out of bounds. */
  | { readonly state: "searching"; readonly above: number; readonly below: number }
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
  readonly outstanding: readonly PathProbe[];
  /** Largest of the smaller sizes that was answered; 0 = none. */
  readonly guard: number;
};

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
  return { bounds, limit: bounds.assumed, phase: { state: "assumed" }, round: null, verifyAtMs: null, nextId };
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
  const round = { target, attempt: 0, dueAtMs: nowMs, outstanding: [], guard: 0 };
  return nextAttempt({ ...path, verifyAtMs: null }, round, nowMs);
}

/** The first attempt tries the size alone; the others bring smaller ones along. */
function nextAttempt(path: PathMtu, round: Round, nowMs: number): PathStep {
  const guards = round.attempt === 0 ? [] : guardsBelow(round.target, path.bounds).filter((size) => size > round.guard);
  const probes = [round.target, ...guards].map((size, at) => ({ id: path.nextId + at, size }));
  const next: Round = {
    ...round,
    attempt: round.attempt + 1,
    dueAtMs: nowMs + PROBE_TIMEOUT_MS,
    outstanding: [...round.outstanding, ...probes],
  };
  return { path: { ...path, round: next, nextId: path.nextId + probes.length }, probes };
}

function handleTimeout(path: PathMtu, nowMs: number): PathStep {
  const { round, verifyAtMs: dueAtMs, phase } = path;
  if (round) {
    if (round.dueAtMs > nowMs) return quiet(path);
    return round.attempt < PROBES_MAX ? nextAttempt(path, round, nowMs) : handleLost(path, round, nowMs);
  }
  if (dueAtMs === null || dueAtMs > nowMs) return quiet(path);
  if ("raiseAtMs" in phase && phase.raiseAtMs <= nowMs && path.limit < path.bounds.max) {
    return search(path, { above: path.limit, below: path.bounds.max + 1 }, nowMs);
  }
  return startRound(path, path.limit, nowMs);
}

/** All attempts of a size went unanswered. */
function handleLost(path: PathMtu, round: Round, nowMs: number): PathStep {
  const { phase } = path;
  if (phase.state === "searching") return search(path, { above: phase.above, below: round.target }, nowMs);
  if (round.guard === 0) return quiet({ ...path, round: null, phase: { state: "unanswered", atMs: nowMs } });
  return search({ ...path, limit: round.guard }, { above: round.guard, below: round.target }, nowMs);
}

function handleAnswer(path: PathMtu, answer: PathProbe, nowMs: number): PathStep {
  const { round, phase } = path;
  const isOurs = round?.outstanding.some(({ id, size }) => id === answer.id && size === answer.size);
  if (!round || !isOurs) return quiet(path);
  if (answer.size !== round.target) {
    return quiet({ ...path, round: { ...round, guard: Math.max(round.guard, answer.size) } });
  }
  const passed = { ...path, limit: answer.size, round: null };
  if (phase.state === "searching") return search(passed, { above: answer.size, below: phase.below }, nowMs);
  if ("raiseAtMs" in phase) {
    return quiet({ ...passed, phase: { state: "verified", atMs: nowMs, raiseAtMs: phase.raiseAtMs } });
  }
  return search(passed, { above: answer.size, below: path.bounds.max + 1 }, nowMs);
}

/** Tries the next size, or ends the search at the largest that passed. */
function search(path: PathMtu, range: { readonly above: number; readonly below: number }, nowMs: number): PathStep {
  const size = sizeBetween(range.above, range.below, path.bounds);
  if (size !== null) return startRound({ ...path, phase: { state: "searching", ...range } }, size, nowMs);
  const phase = { state: "verified", atMs: nowMs, raiseAtMs: nowMs + RAISE_AFTER_MS } as const;
  return quiet({ ...path, limit: range.above, phase, round: null });
}

/**
 * The system knows a bound, learnt from a router or its own device. It refuses larger datagrams, so there is no choice but to follow;
 * whether even this size passes is asked at once.
 */
function handleTooBig(path: PathMtu, reported: number, nowMs: number): PathStep {
  const payload = Math.max(reported, path.bounds.floor);
  const { phase } = path;
  if (payload < path.limit) {
    const told = { state: "reported", atMs: nowMs, raiseAtMs: nowMs + RAISE_AFTER_MS } as const;
    return startRound({ ...path, limit: payload, phase: told }, payload, nowMs);
  }
  if (phase.state !== "searching" || payload >= phase.below) return quiet(path);
  if (payload < phase.above) return quiet(path);
  const narrowed = { above: phase.above, below: payload + 1 };
  if (payload === phase.above) return search(path, narrowed, nowMs);
  const next = { ...path, phase: { ...phase, ...narrowed } };
  return path.round?.target === payload ? quiet(next) : startRound(next, payload, nowMs);
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
