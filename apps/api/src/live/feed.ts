/** Hands events to one subscriber; a slow one is cut off instead of filling memory. */
export type Feed<Event> = {
  readonly push: (event: Event) => void;
  /** Nothing follows what was pushed. */
  readonly end: () => void;
  readonly events: AsyncIterable<Event>;
};

/** Makes a feed that ends with `signal`, or when the subscriber falls too far behind (it will come again). */
export function createFeed<Event>(signal: AbortSignal, onEnd: () => void): Feed<Event> {
  const queue: Event[] = [];
  let wake: (() => void) | undefined;
  let isOver = signal.aborted;
  const end = () => {
    isOver = true;
    wake?.();
  };
  signal.addEventListener("abort", end, { once: true });
  async function* events(): AsyncGenerator<Event> {
    try {
      for (;;) {
        const next = queue.shift();
        if (next !== undefined) yield next;
        else if (isOver) return;
        else await new Promise<void>((done) => (wake = done));
      }
    } finally {
      signal.removeEventListener("abort", end);
      onEnd();
    }
  }
  return {
    push(event) {
      if (isOver) return;
      if (queue.length >= QUEUE_MAX) return end();
      queue.push(event);
      wake?.();
    },
    end,
    events: events(),
  };
}

const QUEUE_MAX = 256;
