/** Slows nodes down that connect again and again; a restart loop of honest size is never noticed. */
export type FlapDamping = {
  /** Counts a connection; a refused one says how long to stay away. */
  readonly connect: (
    id: string,
    nowMs: number,
  ) => { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };
};

export function createFlapDamping(): FlapDamping {
  const nodes = new Map<string, { score: number; atMs: number }>();
  return {
    connect(id, nowMs) {
      const found = nodes.get(id);
      const decayed = found ? Math.max(0, found.score - Math.max(0, nowMs - found.atMs) / RECOVER_MS) : 0;
      const score = Math.min(decayed + 1, SCORE_MAX);
      nodes.delete(id);
      nodes.set(id, { score, atMs: nowMs });
      if (nodes.size > NODES_MAX) for (const oldest of nodes.keys()) return forgetAndAllow(nodes, oldest);
      if (score <= FREE) return { ok: true };
      return { ok: false, retryAfterMs: Math.min(1_000 * 2 ** Math.ceil(score - FREE), WAIT_MS_MAX) };
    },
  };
}

function forgetAndAllow(nodes: Map<string, unknown>, oldest: string): { readonly ok: true } {
  nodes.delete(oldest);
  return { ok: true };
}

/** Connections in quick succession that nobody minds. */
const FREE = 12;
/** One connection is forgiven in this time, so a stable node is free again within a minute. */
const RECOVER_MS = 3_000;
const SCORE_MAX = FREE + 6;
const WAIT_MS_MAX = 30_000;
const NODES_MAX = 100_000;
