import { createContext, type ReactNode, useContext, useMemo, useSyncExternalStore } from "react";

/** Tells the time in milliseconds since 1970; replaced in tests. */
export type Clock = { readonly nowMs: () => number };

/** The browser's own clock. */
export const browserClock: Clock = { nowMs: () => Date.now() };

/** Gives the pages below it one clock with one tick a second. */
export function ClockProvider({ clock, children }: { readonly clock: Clock; readonly children: ReactNode }): ReactNode {
  const ticker = useMemo(() => createTicker(clock), [clock]);
  return <TickerContext.Provider value={ticker}>{children}</TickerContext.Provider>;
}

/** The time, renewed every second. */
export function useNow(): number {
  const ticker = useContext(TickerContext);
  return useSyncExternalStore(ticker.subscribe, ticker.nowMs);
}

type Ticker = { readonly subscribe: (listener: () => void) => () => void; readonly nowMs: () => number };

function createTicker(clock: Clock): Ticker {
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let currentMs = clock.nowMs();

  function tick(): void {
    currentMs = clock.nowMs();
    for (const listener of listeners) listener();
  }

  return {
    subscribe(listener) {
      if (listeners.size === 0) {
        timer = setInterval(tick, 1_000);
        currentMs = clock.nowMs();
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) clearInterval(timer);
      };
    },
    nowMs: () => currentMs,
  };
}

const TickerContext = createContext<Ticker>(createTicker(browserClock));
