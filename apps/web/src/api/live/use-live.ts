import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { useTRPC, useTRPCClient } from "../context.ts";
import { useLiveHub } from "./context.ts";
import { keepSubscribed, type LiveHandlers, type LiveState } from "./keep-subscribed.ts";
import type { NetworkLive } from "./network-live.ts";
import { createPeerLive, type PeerLive } from "./peer-live.ts";
import type { Store } from "./store.ts";

/** Whether the subject of a page is still there, as far as the server said. */
export type Subject = "there" | "gone";

/** Subscribes to a network while it is there and the page is visible. One page, one subscription. */
export function useNetworkLive(networkId: string, subject: Subject): NetworkLive {
  const client = useTRPCClient();
  const trpc = useTRPC();
  const live = useLiveHub().network(networkId);
  useLive(networkId, {
    subject,
    subjectKey: trpc.networks.get.queryKey({ networkId }),
    onEvent: live.handle,
    source: (id, handlers) => {
      live.opened();
      return stop(
        client.live.network.subscribe(
          { networkId: id },
          { onData: handlers.onEvent, onError: handlers.onEnd, onComplete: () => handlers.onEnd(null) },
        ),
      );
    },
  });
  return live;
}

/** Subscribes to one peer while it is there and the page is visible. */
export function usePeerLive(peerId: string, subject: Subject): PeerLive {
  const client = useTRPCClient();
  const trpc = useTRPC();
  const [held, setHeld] = useState(() => ({ peerId, live: createPeerLive() }));
  const current = held.peerId === peerId ? held : { peerId, live: createPeerLive() };
  if (current !== held) setHeld(current);
  useLive(peerId, {
    subject,
    subjectKey: trpc.peers.get.queryKey({ peerId }),
    onEvent: current.live.handle,
    source: (id, handlers) =>
      stop(
        client.live.peer.subscribe(
          { peerId: id },
          { onData: handlers.onEvent, onError: handlers.onEnd, onComplete: () => handlers.onEnd(null) },
        ),
      ),
  });
  return current.live;
}

/** Reads a store and renders again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get);
}

/** State of the live data of the page that is open. */
export function useLiveState(): LiveState {
  return useStore(useLiveHub().state);
}

type LiveOptions<Event> = {
  readonly subject: Subject;
  /** Read again when the stream ends: the subject may be gone. */
  readonly subjectKey: QueryKey;
  readonly source: (id: string, handlers: LiveHandlers<Event>) => () => void;
  readonly onEvent: (event: Event) => void;
};

function useLive<Event>(id: string, options: LiveOptions<Event>): void {
  const { state } = useLiveHub();
  const visible = usePageVisible();
  const heal = useHealing();
  const open = useEffectEvent((target: string, handlers: LiveHandlers<Event>) => options.source(target, handlers));
  const handle = useEffectEvent((event: Event) => options.onEvent(event));
  const changed = useEffectEvent((next: LiveState) => {
    const before = state.get();
    if (before.state === next.state) return;
    state.set(next);
    if (before.state === "paused" && next.state === "live") heal.refresh();
  });
  const ended = useEffectEvent(() => {
    heal.checkSession();
    heal.checkSubject(options.subjectKey);
  });

  useEffect(() => {
    if (!visible || options.subject === "gone") return;
    return keepSubscribed<Event>({
      source: (handlers) => open(id, handlers),
      onEvent: (event) => handle(event),
      onState: (next) => changed(next),
      onEnd: () => ended(),
      nowMs: () => Date.now(),
      random: () => Math.random(),
      later(run, delayMs) {
        const timer = setTimeout(run, delayMs);
        return () => clearTimeout(timer);
      },
    });
  }, [id, visible, options.subject]);
}

/** What happens around a broken stream: everything is read again after it healed, and a lost session leads to the login. */
function useHealing(): {
  readonly refresh: () => void;
  readonly checkSession: () => void;
  readonly checkSubject: (key: QueryKey) => void;
} {
  const queryClient = useQueryClient();
  const trpc = useTRPC();
  return {
    refresh: () => void queryClient.invalidateQueries(),
    // An answer of 401 takes the way of every refused call: to the login.
    checkSession: () => void queryClient.invalidateQueries({ queryKey: trpc.sessions.current.queryKey() }),
    checkSubject: (queryKey) => void queryClient.invalidateQueries({ queryKey }),
  };
}

function usePageVisible(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener("visibilitychange", listener);
      return () => document.removeEventListener("visibilitychange", listener);
    },
    () => document.visibilityState === "visible",
  );
}

function stop(subscription: { readonly unsubscribe: () => void }): () => void {
  return () => subscription.unsubscribe();
}
