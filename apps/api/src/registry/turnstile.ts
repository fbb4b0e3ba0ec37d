/** Lets a few run at once; the others wait in order. */
export type Turnstile = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Work that waits for a lock in the database holds a connection while it waits. Behind a turnstile it waits in memory
 * instead, and the connections stay free for everybody else.
 */
export function createTurnstile(atOnce: number): Turnstile {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
