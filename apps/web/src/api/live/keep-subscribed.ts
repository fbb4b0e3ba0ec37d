/** State of the live data of the page that is open. */
export type LiveState =
  | { readonly state: "idle" }
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "paused"; readonly sinceMs: number };

/** What a source tells while it is connected. */
export type LiveHandlers<Event> = {
  readonly onEvent: (event: Event) => void;
  /** The stream ended, for whatever reason. */
  readonly onEnd: (error: unknown) => void;
};

/** Opens a stream; the answer closes it. */
export type LiveSource<Event> = (handlers: LiveHandlers<Event>) => () => void;

export type KeepSubscribedDeps<Event> = {
  readonly source: LiveSource<Event>;
  readonly onEvent: (event: Event) => void;
  readonly onState: (state: LiveState) => void;
  /** Called for every end; the page may find out that its session is over. */
  readonly onEnd: (error: unknown) => void;
  readonly nowMs: () => number;
  readonly random: () => number;
  /** Runs something later; the answer cancels it. */
  readonly later: (run: () => void, delayMs: number) => () => void;
};

/** Keeps a subscription open: notices silence, reconnects with growing, jittered pauses. Returns how to stop. */
export function keepSubscribed<Event>(deps: KeepSubscribedDeps<Event>): () => void {
  let close: (() => void) | null = null;
  let cancelRetry: () => void = nothing;
  let cancelSilence: () => void = nothing;
  let attempts = 0;
  let lastEventMs = deps.nowMs();
  let stopped = false;

  function connect(): void {
    close?.();
    close = deps.source({
      onEvent(event) {
        if (stopped) return;
        attempts = 0;
        lastEventMs = deps.nowMs();
        deps.onState({ state: "live" });
        watchSilence();
        deps.onEvent(event);
      },
      onEnd(error) {
        if (stopped) return;
        deps.onEnd(error);
        pause();
      },
    });
    watchSilence();
  }

  function watchSilence(): void {
    cancelSilence();
    cancelSilence = deps.later(pause, SILENCE_MS);
  }

  function pause(): void {
    deps.onState({ state: "paused", sinceMs: lastEventMs });
    cancelSilence();
    cancelRetry();
    close?.();
    close = null;
    attempts += 1;
    const ceilingMs = Math.min(RETRY_FIRST_MS * 2 ** (attempts - 1), RETRY_MAX_MS);
    cancelRetry = deps.later(connect, ceilingMs * (0.5 + deps.random() / 2));
  }

  deps.onState({ state: "connecting" });
  connect();

  return () => {
    stopped = true;
    cancelRetry();
    cancelSilence();
    close?.();
    deps.onState({ state: "idle" });
  };
}

function nothing(): void {
  // Nothing to cancel yet.
}

/** Samples come every second; this much silence means that the stream is gone even if the socket is not. */
export const SILENCE_MS = 6_000;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 8_000;
