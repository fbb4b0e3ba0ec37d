import { networkIds } from "@weft/protocol";
import type { NetworkId } from "@weft/protocol";
import type { Database } from "../db/client.ts";
import { allNetworks, CHANGES_CHANNEL } from "../db/networks-repository.ts";

/**
 * Follows changes that any replica commits. Notifications are hints that carry an id only: they may be merged or lost
 * with their connection, so everything is read again from its last sequence after each reconnect.
 */
export async function listenForChanges(deps: {
  readonly database: Database;
  /** After a lost connection the database may be another one than before. */
  readonly checkHistory: () => Promise<unknown>;
  readonly catchUp: (id: NetworkId) => Promise<unknown>;
  readonly known: () => Iterable<NetworkId>;
  readonly onError: (event: string, error: unknown) => void;
}): Promise<{ readonly dispose: () => Promise<void> }> {
  let isOver = false;
  const insist = async (event: string, read: () => Promise<unknown>, attempt = 0): Promise<void> => {
    try {
      await read();
    } catch (error) {
      if (isOver) return;
      deps.onError(event, error);
      // A failed read never makes a map: the old one stays until this succeeds.
      const waitMs = Math.min(RETRY_MS * 2 ** attempt, RETRY_MS_MAX);
      setTimeout(() => void insist(event, read, attempt + 1), waitMs).unref();
    }
  };
  const follow = (id: NetworkId) => insist("network_not_read", () => deps.catchUp(id));
  const followAll = async () => {
    await deps.checkHistory();
    const stored = (await allNetworks(deps.database.db)).map(({ id }) => id);
    await Promise.all([...new Set([...stored, ...deps.known()])].map((id) => follow(id)));
  };
  const subscription = await deps.database.sql.listen(
    CHANGES_CHANNEL,
    (payload) => {
      if (networkIds.is(payload)) void follow(payload);
    },
    () => void insist("networks_not_read", followAll),
  );
  await followAll();
  return {
    async dispose() {
      isOver = true;
      await subscription.unlisten().catch(() => undefined);
    },
  };
}

const RETRY_MS = 100;
const RETRY_MS_MAX = 5_000;
