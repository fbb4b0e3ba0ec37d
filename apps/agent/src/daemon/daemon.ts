import { err, ok, type Result } from "@weft/protocol";

import { parseServerUrl } from "../settings/server-url.ts";
import { removeFile } from "../state/files.ts";
import type { StateStore } from "../state/state-store.ts";
import { acquireLock, lockHolder } from "../state/lock.ts";
import { openLocalApi, somebodyListens } from "./local-api.ts";
import { debugBundle, mapSummary, withoutPlaces, type DebugBundle } from "./debug-bundle.ts";
import { createLocalHandler, type LocalFailure } from "./local-handler.ts";
import { openMetrics } from "./metrics-endpoint.ts";
import { createNode, type MeshNode, type NodeSurroundings } from "./node.ts";
import { createProfiling } from "./profiling.ts";
import { createShutdown, type Shutdown } from "./shutdown.ts";
import { statusView, type StatusView } from "./status-view.ts";
import { clearLeftovers } from "./tunnel-factory.ts";

export type DaemonDeps = NodeSurroundings & {
  /** Port on loopback for Prometheus; `null` = no metrics. */
  readonly metricsPort: number | null;
};

/** A running agent. */
export type Daemon = {
  /** The first map is applied, or the reason why there will be none. */
  readonly ready: Promise<Result<undefined, LocalFailure>>;
  readonly status: () => StatusView;
  /** Undoes everything; resolves when it is done. */
  readonly stop: (reason: string) => Promise<void>;
  /** Resolves after `stop`, whoever called for it. */
  readonly stopped: Promise<void>;
};

/** Builds the long-running process: lock, leftovers, node, local socket; and how all of it ends. */
export async function startDaemon(deps: DaemonDeps): Promise<Result<Daemon, LocalFailure>> {
  const { store, log, timers } = deps;
  const identity = store.loadIdentity();
  const membership = store.loadMembership();
  if (!membership.ok) return err(membership.error.code === "missing" ? NOT_JOINED : membership.error);
  if (!identity.ok) return identity;
  const address = parseServerUrl(membership.value.serverUrl);
  if (!address.ok) return address;
  const lock = await takeLock(store);
  if (!lock.ok) return lock;

  const shutdown = createShutdown(timers, log);
  shutdown.add({ name: "lock", deadlineMs: 200, run: lock.value.release });
  clearLeftovers(deps);

  const [ready, removed] = [promiseOf<Result<undefined, LocalFailure>>(), promiseOf<string>()];
  const node: MeshNode = createNode({
    ...deps,
    identity: identity.value,
    membership: membership.value,
    address: address.value,
    diagnostics: {
      async profile(wish, { signal }) {
        const report = await profiling.run(wish, () => signal.aborted);
        return report.ok ? report.value : report.error.message;
      },
      debugBundle: (addresses) => debug(addresses),
    },
    events: {
      onApplied(errors) {
        const reason = { code: "tunnel_failed", message: errors[0]?.detail ?? "the tunnel could not be made" };
        ready.resolve(node.sync.tunnel() ? ok(undefined) : err(reason));
      },
      onRemoved(message) {
        log.warn("membership_over", { message });
        removeFile(store.paths.membership);
        node.forgetMap();
        removed.resolve(message);
        ready.resolve(err({ code: "removed", message }));
      },
    },
  });
  const stopped = promiseOf<void>();
  const stop = async (reason: string): Promise<void> => {
    log.info("stopping", { reason });
    await shutdown.run();
    stopped.resolve(undefined);
  };
  undoAtEnd(node, shutdown);
  shutdown.add({
    name: "map file",
    deadlineMs: 500,
    run: () => (store.loadMembership().ok ? node.flush() : undefined),
  });

  shutdown.add({ name: "names", deadlineMs: 1_500, run: () => node.names?.close() });
  const status = (): StatusView =>
    statusView(node, membership.value, { nowMs: timers.nowMs(), wallClockMs: deps.wallClockMs() });
  const profiling = createProfiling({ timers, tunnel: node.sync.tunnel, record: deps.system.recordCpuProfile });
  const debug = (addresses: "keep" | "redact"): DebugBundle =>
    collectDebug(deps, node, { addresses, status: status(), serverUrl: membership.value.serverUrl });
  const handler = createLocalHandler({
    ...deps,
    node,
    membership: membership.value,
    pingOnce: deps.system.ping,
    profiling,
    debug,
    ready: ready.promise,
    leave: () => leave(deps, node, removed.promise),
    stop: () => void stop("asked by the command line"),
  });
  const localApi = await openLocalApi(store.paths.socket, handler);
  if (!localApi.ok) {
    await shutdown.run();
    return localApi;
  }
  shutdown.add({ name: "local socket", deadlineMs: 1_000, run: () => localApi.value.close() });
  await shareMetrics(deps, status, shutdown);
  // What a killed process left in the host's routing goes before anything new comes.
  await node.roads.clear();
  node.start();
  return ok({ ready: ready.promise, status, stop, stopped: stopped.promise });
}

function collectDebug(
  { log }: DaemonDeps,
  { sync }: MeshNode,
  own: { readonly addresses: "keep" | "redact"; readonly status: StatusView; readonly serverUrl: string },
): DebugBundle {
  const map = sync.map();
  const bundle = debugBundle({
    status: own.status,
    map: mapSummary({ sync }),
    log: log.recent(),
    environment: process.env,
    publicKeys: map?.peers.map(({ publicKey }) => publicKey) ?? [],
  });
  return own.addresses === "keep" ? bundle : withoutPlaces(bundle, map, own);
}

/** Routing goes before the interface it leads into. */
function undoAtEnd(node: MeshNode, shutdown: Shutdown): void {
  shutdown.add({ name: "tunnel", deadlineMs: 2_000, run: () => node.closeTunnel() });
  shutdown.add({ name: "routing", deadlineMs: 2_000, run: () => node.roads.close() });
  shutdown.add({ name: "control stream", deadlineMs: 500, run: () => node.disconnect("the agent stops") });
}

async function takeLock({ paths }: StateStore): Promise<ReturnType<typeof acquireLock> | typeof HELD_UNSEEN> {
  if (lockHolder(paths.lock) === null && (await somebodyListens(paths.socket))) return HELD_UNSEEN;
  return acquireLock(paths.lock);
}

async function shareMetrics(deps: DaemonDeps, status: () => StatusView, shutdown: Shutdown): Promise<void> {
  if (deps.metricsPort === null) return;
  const metrics = await openMetrics(deps.metricsPort, status);
  // Watching must never keep the mesh from coming up.
  if (!metrics.ok) deps.log.error("metrics_failed", { message: metrics.error.message });
  else shutdown.add({ name: "metrics", deadlineMs: 500, run: () => metrics.value.close() });
}

/** Asks the server to delete this node, waits for its word, forgets everything. */
async function leave(
  deps: DaemonDeps,
  node: MeshNode,
  removed: Promise<string>,
): Promise<Result<undefined, LocalFailure>> {
  if (node.control.send({ kind: "leave" }) === "not_connected") {
    return err({
      code: "not_connected",
      message:
        "the server is not connected, so it cannot be told; try again, or use --force and remove the peer in the dashboard",
    });
  }
  let cancel = (): void => {};
  const late = new Promise<null>((resolve) => {
    cancel = deps.timers.after(LEAVE_TIMEOUT_MS, () => resolve(null));
  });
  const message = await Promise.race([removed, late]);
  cancel();
  if (message === null)
    return err({ code: "timeout", message: `the server did not confirm within ${LEAVE_TIMEOUT_MS / 1000} s` });
  const wiped = deps.store.wipe();
  return wiped.ok ? ok(undefined) : wiped;
}

function promiseOf<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const LEAVE_TIMEOUT_MS = 5_000;
const HELD_UNSEEN: Result<never, LocalFailure> = err({
  code: "held",
  message:
    "a weft daemon already runs on this state directory, as a process that cannot be seen from here (in a container?)",
});
const NOT_JOINED: LocalFailure = {
  code: "not_joined",
  message: 'this host belongs to no network; copy the join line from the dashboard ("Add host") and run it',
};
