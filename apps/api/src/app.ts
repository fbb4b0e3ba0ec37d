import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { PeerId } from "@weft/protocol";
import type { Config } from "./config.ts";
import { renewLostHistory } from "./db/database-history.ts";
import { keepInstanceSecrets, openBootstrap } from "./db/instance-repository.ts";
import type { InstanceSecrets } from "./db/instance-repository.ts";
import type { DatabaseOptions, Executor } from "./db/client.ts";
import { openDatabase } from "./db/open-database.ts";
import { createDoorkeeper } from "./domain/load-shedding.ts";
import { createLoginThrottle } from "./domain/login-throttle.ts";
import { enrolNode } from "./features/enrolment/enrol-node.ts";
import { removePeer } from "./features/peers/remove-peer.ts";
import { createHttpServer } from "./http/http-server.ts";
import { detailOf } from "./http/problem-of.ts";
import { reachableHost } from "./http/reachable-host.ts";
import { startPeerExpiry } from "./jobs/expire-peers.ts";
import { createAbsenceRound } from "./jobs/remove-absent-peers.ts";
import { createConcealRound } from "./jobs/watch-conceal.ts";
import type { ReportedHandshakes } from "./jobs/watch-conceal.ts";
import { createRouterSettling } from "./jobs/settle-routers.ts";
import { startJobs } from "./jobs/jobs.ts";
import type { Retention } from "./jobs/prune.ts";
import { createAgentGate, RESTART_WINDOW_MS } from "./live/agent-gate.ts";
import { listenForChanges } from "./live/change-listener.ts";
import { startHeartbeats } from "./live/heartbeats.ts";
import { startLagGauge } from "./live/lag-gauge.ts";
import { startRouteWatch } from "./live/route-watch.ts";
import { createLiveHub } from "./live/live-hub.ts";
import type { LiveHub } from "./live/live-hub.ts";
import { liveStateOf } from "./live/live-state-of.ts";
import type { RemoveNode } from "./live/node-session.ts";
import { identityFromDatabase, identityFromFile } from "./live/server-identity.ts";
import type { ServerIdentity } from "./live/server-identity.ts";
import { createJobDesk } from "./node-jobs/job-desk.ts";
import { createOidcClient } from "./oidc/oidc-client.ts";
import { createRequestMeter } from "./metrics/request-meter.ts";
import { createStatementMeter } from "./metrics/statement-meter.ts";
import type { StatementMeter } from "./metrics/statement-meter.ts";
import { serverMetrics } from "./metrics/server-metrics.ts";
import { createBackupSide } from "./backup/backup-side.ts";
import type { UpdateWatch } from "./updates/update-watch.ts";
import { createUpdateWatch } from "./updates/update-watch.ts";
import { createWebhookSide } from "./webhooks/webhook-side.ts";
import { createAgentInstaller } from "./registry/agent-installer.ts";
import { createCursors } from "./registry/cursors.ts";
import type { FeatureDeps, WallClock } from "./registry/feature-deps.ts";
import { createPerform } from "./registry/perform.ts";
import { createPasswords } from "./registry/passwords.ts";
import { createTurnstile } from "./registry/turnstile.ts";
import { createVault } from "./registry/vault.ts";

/** What a program or a test may put in place of the real thing. */
export type AppOptions = {
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  readonly clock?: WallClock;
  readonly database?: DatabaseOptions;
  readonly open?: typeof openDatabase;
  /** How late the event loop is; measured when left out. */
  readonly lagMs?: () => number;
  /** Agents' connections at a time that were not admitted yet; there are defaults. */
  readonly strangersMax?: { readonly perSubject: number; readonly total: number };
};

export type App = {
  readonly server: FastifyInstance;
  readonly deps: FeatureDeps;
  /** What a Prometheus is told. */
  readonly metrics: () => Promise<string>;
  /** Asks the feed of releases now when its time has come. */
  readonly lookForUpdates: () => Promise<void>;
  /** Resolves when the embedded database ended on its own. */
  readonly databaseLost: Promise<void>;
  readonly dispose: () => Promise<void>;
};

/** Puts the server together; what was started is stopped in reverse, also when a later step fails. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, log, clock = SYSTEM_CLOCK, open = openDatabase } = options;
  const steps: (() => unknown)[] = [];
  const dispose = async () => {
    for (const step of steps.splice(0).toReversed()) await step();
  };
  try {
    const version = await readVersion();
    const statements = createStatementMeter();
    const source = { dataFolder: config.dataFolder, url: config.databaseUrl };
    const database = await open(source, counted(statements, options.database));
    steps.push(database.dispose);
    const { db } = database;
    const secrets = await prepareInstance(db, config, clock);
    const identity =
      database.kind === "embedded" ? await identityFromFile(config.dataFolder) : await identityFromDatabase(db);
    const onError = (event: string, err: unknown) => log.error({ event, err });
    const hub = createLiveHub({ database, identity, clock, random, onError });
    steps.push(hub.dispose);
    const expiry = await startPeerExpiry({ db, clock, onError: (error) => onError("peers_not_expired", error) });
    steps.push(expiry.dispose);
    const webhooks = createWebhookSide({
      db,
      clock,
      random,
      sign: identity.sign,
      privateTargets: config.webhookPrivateTargets,
      version,
      onError: (error) => onError("webhook_not_sent", error),
    });
    steps.push(webhooks.dispose);
    const updates = updatesOf({ config, version, clock, log });
    const own = { config, version, identity, databaseKind: database.kind, cursorKey: secrets.cursorKey };
    const live = liveStateOf(hub, clock);
    const desk = createJobDesk({ db, clock, random, live, describe: detailOf, onError });
    const sides = { live, jobs: desk, webhooks, updates, noteExpiry: expiry.note };
    const deps = featureDepsOf(own, { database, clock, random, ...sides });
    const enrolments = createTurnstile(ENROLMENTS_AT_ONCE);
    const agents = createAgentGate({
      database,
      clock,
      random,
      hub,
      identity,
      serverVersion: version,
      enrol: (from, join) => enrolments(() => enrolNode(deps, from, join)),
      remove: removedByItself(deps, hub),
      log: (event, fields) => log.info({ event, ...fields }),
      ...(options.strangersMax && { strangersMax: options.strangersMax }),
    });
    const checkHistory = () => renewLostHistory(db, random);
    const listener = await listenForChanges({ database, checkHistory, ...followed(hub), onError });
    const heartbeats = startHeartbeats({ hub, clock, random, onError });
    const turns = { sendWebhooks: webhooks.turn, turnNodeJobs: desk.turn, lookForUpdates: updates.turn };
    const jobs = jobsOf({ deps, hub, retention: config, ...turns, onError });
    const routeWatch = startRouteWatch({ hub, clock, settle: createRouterSettling({ db, clock }), onError });
    steps.push(listener.dispose, heartbeats.dispose, jobs.dispose, routeWatch.dispose);
    const gauge = startLagGauge();
    steps.push(gauge.dispose);
    const lagMs = options.lagMs ?? gauge.lagMs;
    const doorSeconds = doorOf(clock, lagMs);
    const waitSeconds = (address: string) => (agents.hasRoom(address) ? doorSeconds() : STRANGERS_WAIT_SECONDS);
    const requests = createRequestMeter();
    const server = await createHttpServer({ ...config, deps, log, agentGate: agents.gate, waitSeconds, requests });
    steps.push(
      () => server.close(),
      () => agents.stop(RESTART_WINDOW_MS),
      // Its jobs end because the server stops, not because their nodes lose it.
      desk.dispose,
    );
    const metrics = () =>
      serverMetrics({ deps, hub, meters: [statements, requests], lagMs, deliveries: webhooks.counts });
    return { server, deps, metrics, lookForUpdates: updates.turn, databaseLost: database.lost, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Who looks for newer releases, when an operator said where. */
function updatesOf({
  config,
  version,
  clock,
  log,
}: Pick<AppOptions, "config" | "log"> & { readonly version: string; readonly clock: WallClock }): UpdateWatch {
  return createUpdateWatch({
    feed: config.updateFeed,
    version,
    file: join(config.dataFolder, "update-notice.json"),
    clock,
    random,
    onError: (error) => log.warn({ event: "update_feed_failed", err: error }),
  });
}

/** What a listener for changes has to know of the hub. */
function followed({ catchUp, networks }: LiveHub) {
  return { catchUp, known: () => networks.keys() };
}

/** How long newcomers are asked to wait while the server is late. */
function doorOf(clock: WallClock, lagMs: () => number): () => number | undefined {
  const door = createDoorkeeper(() => random(1)[0] ?? 0);
  return () => door.waitSeconds({ lagMs: lagMs(), nowMs: clock.nowMs() });
}

/** Counts statements beside whoever else wants to see them. */
function counted(meter: StatementMeter, options: DatabaseOptions = {}): DatabaseOptions {
  return {
    ...options,
    onStatement(statement) {
      meter.note(statement);
      options.onStatement?.(statement);
    },
  };
}

/** Makes what the whole installation shares, at the first start. */
async function prepareInstance(db: Executor, { bootstrapToken }: Config, clock: WallClock): Promise<InstanceSecrets> {
  const fresh = { serverPrivateKey: null, cursorKey: randomBytes(32).toString("base64") };
  const secrets = await keepInstanceSecrets(db, fresh);
  if (bootstrapToken !== undefined) await openBootstrap(db, new Date(clock.nowMs() + BOOTSTRAP_MS));
  return secrets;
}

/** What use cases work with: the parts that run, and what is made from this server's own facts. */
function featureDepsOf(
  own: {
    readonly config: Config;
    readonly version: string;
    readonly identity: ServerIdentity;
    readonly databaseKind: "embedded" | "external";
    readonly cursorKey: string;
  },
  running: Pick<FeatureDeps, "database" | "clock" | "random" | "live" | "jobs" | "webhooks" | "updates" | "noteExpiry">,
): FeatureDeps {
  const { config, version, identity, databaseKind } = own;
  const { db } = running.database;
  const deps: FeatureDeps = {
    ...running,
    perform: createPerform(() => deps),
    explain: detailOf,
    passwords: createPasswords(),
    throttle: createLoginThrottle(),
    installer: createAgentInstaller(config.agentFolder),
    oidc: createOidcClient(),
    vault: createVault(identity.deriveKey("weft vault")),
    backups: createBackupSide({
      db,
      folder: join(config.dataFolder, "backups"),
      version,
      privateKey: identity.privateKey,
    }),
    cursors: createCursors(Buffer.from(own.cursorKey, "base64")),
    server: {
      ...settledFacts(config),
      version,
      startedAt: new Date(running.clock.nowMs()),
      key: identity.key,
      databaseKind,
    },
  };
  return deps;
}

/** What the operator's settings say about this server. */
function settledFacts({ publicUrl, listen, setupToken, bootstrapToken }: Config) {
  return { publicUrl, setupToken, bootstrapToken, reachableHost: () => reachableHost(listen.host) };
}

/** A node may end its own membership. */
function removedByItself(deps: FeatureDeps, hub: LiveHub): RemoveNode {
  return async (peerId, from) => {
    const name = hub.find(peerId)?.peer.name ?? "";
    await removePeer(deps, { ...from, actor: { kind: "node", peerId, name } }, { peerId });
  };
}

function jobsOf(own: {
  readonly deps: FeatureDeps;
  readonly hub: LiveHub;
  readonly retention: Retention;
  readonly sendWebhooks: () => Promise<void>;
  readonly turnNodeJobs: () => Promise<void>;
  readonly lookForUpdates: () => Promise<void>;
  readonly onError: (event: string, error: unknown) => void;
}): { readonly dispose: () => void } {
  const { hub, retention, sendWebhooks, turnNodeJobs, lookForUpdates, onError } = own;
  const { clock, database } = own.deps;
  const removeAbsent = createAbsenceRound({
    db: database.db,
    networks: () =>
      [...hub.networks.values()].map(({ mirror }) => ({ network: mirror.network(), peers: mirror.peers().values() })),
    isOnline: (id) => hub.presence.stateOf(id, clock.nowMs()) === "online",
    nowMs: clock.nowMs,
  });
  const watchConceal = createConcealRound({
    db: database.db,
    networks: () =>
      [...hub.networks.values()].map(({ mirror }) => ({ network: mirror.network(), peers: mirror.peers() })),
    handshakesOf: (id) => handshakesOf(hub, id),
    nowMs: clock.nowMs,
  });
  const { flush: flushTraffic } = hub.traffic;
  const flushFlows = async () => {
    await hub.rules.flush();
    await hub.flows.flush();
  };
  const rounds = { flushTraffic, flushFlows, removeAbsent, watchConceal, sendWebhooks, turnNodeJobs, lookForUpdates };
  return startJobs({ db: database.db, clock, retention, onError, ...rounds });
}

/** The newest handshakes of a node, as it reported them last. */
function handshakesOf(hub: LiveHub, id: PeerId): ReportedHandshakes | undefined {
  const traffic = hub.traffic.find(id);
  const atMs = traffic?.latest()?.atMs;
  if (!traffic || atMs === undefined) return undefined;
  const agesMs = new Map<PeerId, number>();
  for (const [other, { lastHandshakeAgeMs }] of traffic.links()) {
    if (lastHandshakeAgeMs !== null) agesMs.set(other, lastHandshakeAgeMs);
  }
  return { atMs, agesMs };
}

async function readVersion(): Promise<string> {
  const text = await readFile(new URL("../package.json", import.meta.url), "utf8");
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? "0.0.0";
}

function random(length: number): Uint8Array {
  return randomBytes(length);
}

/** How long the bootstrap token works, from the first start on. */
const BOOTSTRAP_MS = 3_600_000;
/** Enrolments of one network follow each other anyway; two keep the database busy. */
const ENROLMENTS_AT_ONCE = 2;
/** As long as a connection may take until its hello. */
const STRANGERS_WAIT_SECONDS = 10;
const SYSTEM_CLOCK: WallClock = { nowMs: () => Date.now() };
