import { ok } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { lockNetwork } from "../db/networks-repository.ts";
import { endRouters, renewRouters } from "../db/peers-repository.ts";
import { settleRoutes } from "../db/settle-routes.ts";
import { transact } from "../db/transact.ts";
import { LEASE_MS } from "../live/route-watch.ts";
import type { RouterReport } from "../live/route-watch.ts";
import { BY_SERVER, recordAudit } from "../registry/audit.ts";
import type { WallClock } from "../registry/feature-deps.ts";

/** Writes down which routers answer and lets others take over from those that do not; the audit log says so. */
export function createRouterSettling(deps: {
  readonly db: Executor;
  readonly clock: WallClock;
}): (report: RouterReport) => Promise<void> {
  return async ({ networkId, up, lost }) => {
    const now = new Date(deps.clock.nowMs());
    await transact(deps.db, async (tx) => {
      if (!(await lockNetwork(tx, networkId))) return ok(undefined);
      await endRouters(tx, lost);
      await renewRouters(tx, up, { now, until: new Date(now.getTime() + LEASE_MS) });
      for (const { prefix, from, to } of await settleRoutes(tx, networkId, now)) {
        const note = { action: "routes.takeOver", objectId: to, networkId, at: now };
        await recordAudit(tx, BY_SERVER, {
          ...note,
          before: { prefix, routeId: from },
          after: { prefix, routeId: to },
        });
      }
      return ok(undefined);
    });
  };
}
