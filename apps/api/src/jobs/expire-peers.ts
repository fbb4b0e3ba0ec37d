import { ok } from "@weft/protocol";
import type { NetworkId } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { lockNetwork, publishChanges } from "../db/networks-repository.ts";
import { expireDue, networksWithExpiry, nextExpiry } from "../db/peers-repository.ts";
import { transact } from "../db/transact.ts";
import { BY_SERVER, recordAudit } from "../registry/audit.ts";
import type { WallClock } from "../registry/feature-deps.ts";

/** Runs something later; the result takes it back. */
export type Schedule = (delayMs: number, run: () => void) => () => void;

export type PeerExpiry = {
  /** An expiry may have been set, moved or taken back: looks when the next one is due. */
  readonly note: () => void;
  /** Resolves when what runs has ended. */
  readonly dispose: () => Promise<void>;
};

/**
 * Expires peers when their time comes. It wakes for the next one that is due, and now and then in between: another
 * server of the same database may have set one, and wall clocks are set. What passed while no server ran has taken effect
 * when it resolves.
 */
export async function startPeerExpiry(deps: {
  readonly db: Executor;
  readonly clock: WallClock;
  readonly onError: (error: unknown) => void;
  readonly schedule?: Schedule;
}): Promise<PeerExpiry> {
  const { db, clock, onError, schedule = afterDelay } = deps;
  let cancel = (): void => {};
  let running: "no" | "yes" | "again" = "no";
  let isOver = false;
  let current: Promise<void> = Promise.resolve();
  const turn = async (): Promise<void> => {
    await expirePeers(db, new Date(clock.nowMs()));
    const next = await nextExpiry(db);
    const delayMs = next ? Math.max(0, next.getTime() - clock.nowMs()) : LOOK_MS;
    if (!isOver) cancel = schedule(Math.min(delayMs, LOOK_MS), look);
  };
  const look = (): void => {
    if (isOver) return;
    if (running !== "no") return void (running = "again");
    running = "yes";
    cancel();
    current = turn()
      .catch((error: unknown) => {
        onError(error);
        if (!isOver) cancel = schedule(RETRY_MS, look);
      })
      .finally(() => {
        const isWanted = running === "again";
        running = "no";
        if (isWanted) look();
      });
  };
  await turn();
  return {
    note: look,
    async dispose() {
      isOver = true;
      cancel();
      await current;
    },
  };
}

/** Turns every active peer whose time has come into an expired one; agents and the audit log are told with it. */
async function expirePeers(db: Executor, now: Date): Promise<void> {
  for (const networkId of await networksWithExpiry(db, now)) await expireIn(db, networkId, now);
}

async function expireIn(db: Executor, networkId: NetworkId, now: Date): Promise<void> {
  await transact(db, async (tx) => {
    await lockNetwork(tx, networkId);
    const expired = await expireDue(tx, networkId, now);
    // Another server of the same database was faster.
    if (expired.length === 0) return ok(undefined);
    const changes = expired.map(({ id }) => ({ kind: "peer", peerId: id }) as const);
    await publishChanges(tx, networkId, { changes, at: now });
    for (const { id, expiresAt } of expired) {
      const note = { action: "peers.expire", objectId: id, networkId, at: now };
      const [before, after] = [
        { state: "active", expiresAt },
        { state: "expired", expiresAt },
      ];
      await recordAudit(tx, BY_SERVER, { ...note, before, after });
    }
    return ok(undefined);
  });
}

const afterDelay: Schedule = (delayMs, run) => {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};

/** Looks at least so often, whatever is due. */
const LOOK_MS = 60_000;
const RETRY_MS = 2_000;
