import { spawn } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import {
  chmod,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  truncate,
  writeFile,
} from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Account } from "./account.ts";
import type { Binaries } from "./binaries.ts";

export type PostmasterOptions = {
  readonly binaries: Binaries;
  /** Owned by the account; holds the cluster and the log. */
  readonly base: string;
  readonly account: Account | undefined;
  readonly password: string;
};

/** A running database server. */
export type Postmaster = {
  /** Resolves when the server ended, however that came. */
  readonly ended: Promise<void>;
  /** Ends it: open transactions are rolled back, everything acknowledged is on disk. */
  readonly stop: () => Promise<void>;
};

/** Makes the cluster where it is missing, ends an orphan of an earlier run, and starts the server. */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const cluster = join(options.base, CLUSTER);
  await endOrphan(cluster);
  if ((await versionOf(cluster)) === undefined) await createCluster(options);
  await refuseOtherVersion(cluster, options.binaries);
  const child = await launch(options, cluster);
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  await waitUntilReady(cluster, child, options.base);
  return {
    ended,
    stop: async () => {
      child.kill("SIGINT");
      const slow = delay(STOP_WAIT_MS, "slow", { ref: false });
      if ((await Promise.race([ended, slow])) !== "slow") return;
      child.kill("SIGQUIT");
      await ended;
    },
  };
}

async function createCluster({ binaries, base, account, password }: PostmasterOptions): Promise<void> {
  const unfinished = join(base, `${CLUSTER}.new`);
  const passwordFile = join(base, "initial-password");
  await rm(unfinished, { recursive: true, force: true });
  await makeOwnFolder(unfinished, account);
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (account) await chown(passwordFile, account.uid, account.gid);
  const handle = await open(passwordFile, "r");
  try {
    const text = ["--encoding", "UTF8", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"];
    const access = ["--username", DATABASE_USER, "--auth-local", "scram-sha-256", "--auth-host", "reject"];
    await run(binaries.initdb, ["--pgdata", HERE, "--pwfile", "/proc/self/fd/0", ...access, ...text], {
      ...spawnOptions(unfinished, account),
      stdio: [handle.fd, "pipe", "pipe"],
    });
  } finally {
    await handle.close();
    await rm(passwordFile, { force: true });
  }
  await rename(unfinished, join(base, CLUSTER));
}

/** Makes a folder that belongs to the account alone. */
export async function makeOwnFolder(folder: string, account: Account | undefined): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  if (account) await chown(folder, account.uid, account.gid);
}

async function launch(options: PostmasterOptions, cluster: string): Promise<ChildProcess> {
  const { binaries, base, account } = options;
  const logPath = join(base, LOG_NAME);
  const log = await open(logPath, "a", 0o600);
  try {
    if ((await log.stat()).size > LOG_BYTES_MAX) await truncate(logPath, 0);
    if (account) await log.chown(account.uid, account.gid);
    const flags = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    return spawn(binaries.postgres, ["-D", HERE, ...flags], {
      ...spawnOptions(cluster, account),
      stdio: ["ignore", log.fd, log.fd],
      // Ctrl-C reaches the whole foreground group; the database must outlive the server's own shutdown.
      detached: true,
    });
  } finally {
    await log.close();
  }
}

async function waitUntilReady(cluster: string, child: ChildProcess, base: string): Promise<void> {
  let failure: Error | undefined;
  child.once("error", (error) => (failure = error));
  for (const deadline = Date.now() + READY_WAIT_MS; Date.now() < deadline; await delay(10)) {
    if (failure) throw failure;
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`the embedded database did not start:\n${await lastLines(join(base, LOG_NAME))}`);
    }
    const pidFile = await readPidFile(cluster);
    if (pidFile?.pid === child.pid && pidFile?.status === "ready") return;
  }
  child.kill("SIGQUIT");
  throw new Error(`the embedded database was not ready after ${READY_WAIT_MS / 1_000} s`);
}

/**
 * Ends a database server that outlived its control plane, and waits for all its processes; the folder's lock is ours by
 * then. What is left of it, lock files that name a reused or unreaped process number included, is removed.
 */
async function endOrphan(cluster: string): Promise<void> {
  const pidFile = await readPidFile(cluster);
  for (const deadline = Date.now() + STOP_WAIT_MS; ; await delay(10)) {
    const left = await processesIn(cluster);
    if (left.length === 0) break;
    if (Date.now() > deadline) {
      throw new Error(`a database server (process ${left.join(", ")}) still uses ${cluster} and does not end`);
    }
    if (pidFile && left.includes(pidFile.pid)) signal(pidFile.pid);
  }
  for (const name of ["postmaster.pid", SOCKET_NAME, `${SOCKET_NAME}.lock`])
    await rm(join(cluster, name), { force: true });
}

/** Every process of a database server works in its cluster's folder. */
async function processesIn(cluster: string): Promise<number[]> {
  const place = await realpath(cluster).catch(() => undefined);
  if (place === undefined) return [];
  const numbers = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    numbers.map(async (number) => {
      const cwd = await readlink(`/proc/${number}/cwd`).catch(() => "");
      const program = cwd === place ? await readFile(`/proc/${number}/comm`, "utf8").catch(() => "") : "";
      return program.trim() === "postgres" ? [Number(number)] : [];
    }),
  );
  return found.flat();
}

function signal(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch {
    // It ended between the look and the signal.
  }
}

async function readPidFile(cluster: string): Promise<{ pid: number; status: string } | undefined> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const lines = text.split("\n");
  const pid = Number(lines.at(0));
  return pid > 0 ? { pid, status: (lines.at(7) ?? "").trim() } : undefined;
}

async function versionOf(cluster: string): Promise<string | undefined> {
  const text = await readFile(join(cluster, "PG_VERSION"), "utf8").catch(() => undefined);
  return text?.trim();
}

async function refuseOtherVersion(cluster: string, binaries: Binaries): Promise<void> {
  const printed = await run(binaries.postgres, ["--version"], {});
  const major = /(\d+)\.\d+/.exec(printed)?.[1];
  const found = await versionOf(cluster);
  if (found === major) return;
  throw new Error(
    `the database in ${cluster} was made by PostgreSQL ${found}, this release carries ${major}; ` +
      `dump it with the release that made it and load it into a new folder`,
  );
}

function spawnOptions(cwd: string, account: Account | undefined): SpawnOptions {
  return { cwd, env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" }, ...account };
}

function run(program: string, args: readonly string[], options: SpawnOptions): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    let output = "";
    const collect = (chunk: unknown) => (output += String(chunk));
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    child.once("error", fail);
    child.once("close", (code) => {
      if (code === 0) done(output);
      else fail(new Error(`${basename(program)} failed (exit code ${code}):\n${output.trim()}`));
    });
  });
}

async function lastLines(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-8).join("\n");
}

/** The role that owns everything in an embedded database. */
export const DATABASE_USER = "weft";

/** Folder of the cluster below the base; the Unix socket is in it too. */
export const CLUSTER = "cluster";
/**
 * The cluster as its own server names it. A process starts in its folder before it gives up root, and this link needs
 * no right to pass the folders above: the account may serve a cluster that lies in somebody's closed home.
 */
const HERE = "/proc/self/cwd";
/** PostgreSQL's name for the socket of its usual port. */
export const SOCKET_NAME = ".s.PGSQL.5432";
const LOG_NAME = "database.log";
const LOG_BYTES_MAX = 10_000_000;
const READY_WAIT_MS = 60_000;
const STOP_WAIT_MS = 10_000;

/** Never on TCP; sized for a small machine. `fsync` stays on: what is acknowledged is on disk. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "",
  unix_socket_directories: HERE,
  unix_socket_permissions: "0700",
  max_connections: "60",
  shared_buffers: "32MB",
  max_wal_size: "256MB",
  jit: "off",
  log_checkpoints: "off",
  log_timezone: "UTC",
  timezone: "UTC",
};
