import type { Change } from "./kind.ts";

/** Changes as callers see them. */
export function changeView({ action, kind, network, name, before, after, dangers, state, reason }: Change) {
  return { action, kind, network, name, before, after, dangers: [...dangers], state, reason };
}

export function countsOf(changes: readonly Change[]) {
  const planned = changes.filter(({ state }) => state === "planned");
  const count = (action: Change["action"]) => planned.filter((change) => change.action === action).length;
  return {
    create: count("create"),
    update: count("update"),
    delete: count("delete"),
    kept: changes.filter(({ state }) => state === "kept").length,
    skipped: changes.filter(({ state }) => state === "skipped").length,
  };
}
