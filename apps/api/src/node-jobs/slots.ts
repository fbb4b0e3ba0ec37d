import { err, ok } from "@weft/protocol";
import type { PeerId, Result } from "@weft/protocol";
import { LIGHT_AT_ONCE, WAITING_MAX } from "../domain/job.ts";

/** A right to keep nodes busy; given back once. */
export type Slot = {
  /** Whether the nodes are free for it now, or it waits until others have ended. */
  readonly state: () => "free" | "waiting";
  /** Called when a slot that waited becomes free. */
  readonly onFree: (run: () => void) => void;
  readonly release: () => void;
};

/** Who keeps which node busy: one heavy job on each at a time, a few light ones; more light ones wait in order. */
export type Slots = {
  /** Refuses with the node that is busy. */
  readonly take: (wish: {
    readonly nodes: readonly PeerId[];
    readonly weight: "heavy" | "light";
  }) => Result<Slot, PeerId>;
};

export function createSlots(): Slots {
  const heavy = new Set<PeerId>();
  const light = new Map<PeerId, Light>();
  return {
    take({ nodes, weight }) {
      if (weight === "heavy") {
        const busy = nodes.find((id) => heavy.has(id));
        if (busy) return err(busy);
        for (const id of nodes) heavy.add(id);
        const release = once(() => {
          for (const id of nodes) heavy.delete(id);
        });
        return ok({ state: () => "free", onFree: () => undefined, release });
      }
      const [node] = nodes;
      if (!node) throw new Error("a light job keeps one node busy");
      return takeLight(light, node);
    },
  };
}

type Light = { atWork: number; readonly waiting: Set<() => void> };

function takeLight(light: Map<PeerId, Light>, node: PeerId): Result<Slot, PeerId> {
  const line = light.get(node) ?? { atWork: 0, waiting: new Set() };
  if (line.atWork >= LIGHT_AT_ONCE && line.waiting.size >= WAITING_MAX) return err(node);
  light.set(node, line);
  let state: "free" | "waiting" = line.atWork < LIGHT_AT_ONCE ? "free" : "waiting";
  let tell = (): void => undefined;
  const enter = () => {
    state = "free";
    tell();
  };
  if (state === "free") line.atWork += 1;
  else line.waiting.add(enter);
  const release = once(() => {
    if (line.waiting.delete(enter)) return;
    const [next] = line.waiting;
    if (next) {
      line.waiting.delete(next);
      next();
    } else line.atWork -= 1;
    if (line.atWork === 0) light.delete(node);
  });
  return ok({
    state: () => state,
    onFree(run) {
      tell = run;
    },
    release,
  });
}

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}
