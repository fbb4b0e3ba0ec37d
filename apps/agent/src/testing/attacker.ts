import type { Connect } from "../stream/connection.ts";

/** What somebody on the way does with a message: what comes out is delivered instead. `index` counts from 0. */
type Meddle = (message: Uint8Array, index: number) => readonly Uint8Array[];

/** A connection with somebody in between who reads and changes what they like. */
export function attacked(
  connect: Connect,
  attack: { readonly toAgent?: Meddle; readonly toServer?: Meddle },
): { readonly connect: Connect; readonly recorded: Uint8Array[] } {
  const recorded: Uint8Array[] = [];
  return {
    recorded,
    connect(address, nonce, events) {
      const count = { toAgent: 0, toServer: 0 };
      const pass = (way: "toAgent" | "toServer", message: Uint8Array): readonly Uint8Array[] => {
        recorded.push(Uint8Array.from(message));
        const changed = attack[way]?.(message, count[way]) ?? [message];
        count[way] += 1;
        return changed;
      };
      const inner = connect(address, nonce, {
        ...events,
        onMessage(message) {
          for (const out of pass("toAgent", message)) events.onMessage(out);
        },
      });
      return {
        ...inner,
        send(message) {
          for (const out of pass("toServer", message)) inner.send(out);
        },
      };
    },
  };
}
