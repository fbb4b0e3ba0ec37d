import type { Endpoint } from "@weft/protocol";
import type { Scheduler } from "../io/drive.ts";

/** One datagram on its way. */
export type Datagram = { readonly from: Endpoint; readonly to: Endpoint; readonly payload: Uint8Array };

/** A network in memory: every datagram arrives once, in order, unless the test's rule drops it. */
export type VirtualNetwork = {
  /** Returns how to detach. */
  readonly attach: (endpoint: Endpoint, receive: (datagram: Datagram) => void) => () => void;
  readonly send: (datagram: Datagram) => void;
  /** Which datagrams get lost from now on. */
  readonly loseWhere: (rule: (datagram: Datagram) => boolean) => void;
  /** Somebody on the path: what arrives instead of a datagram. */
  readonly interceptWith: (rule: (datagram: Datagram) => readonly Datagram[]) => void;
  /** Everything ever sent, also what got lost. */
  readonly sent: readonly Datagram[];
};

export function createVirtualNetwork(scheduler: Scheduler, latencyMs: number): VirtualNetwork {
  const receivers = new Map<Endpoint, (datagram: Datagram) => void>();
  const sent: Datagram[] = [];
  let isLost: (datagram: Datagram) => boolean = () => false;
  let intercept: (datagram: Datagram) => readonly Datagram[] = (datagram) => [datagram];
  return {
    attach(endpoint, receive) {
      receivers.set(endpoint, receive);
      return () => void receivers.delete(endpoint);
    },
    send(datagram) {
      const copy = { ...datagram, payload: new Uint8Array(datagram.payload) };
      sent.push(copy);
      if (isLost(copy)) return;
      for (const passed of intercept(copy)) scheduler.after(latencyMs, () => receivers.get(passed.to)?.(passed));
    },
    loseWhere(rule) {
      isLost = rule;
    },
    interceptWith(rule) {
      intercept = rule;
    },
    sent,
  };
}
