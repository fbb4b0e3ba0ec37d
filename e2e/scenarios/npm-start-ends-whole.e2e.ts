import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

import { cleanUpLater, cleanUpNow } from "../harness/cleanup.ts";
import { eventually } from "../harness/eventually.ts";
import { startProgram, type Program } from "../harness/programs.ts";
import { repositoryPath } from "../harness/repository.ts";

const WAYS: readonly (readonly [string, (started: Started) => void])[] = [
  ["SIGTERM to npm alone", ({ npm }) => process.kill(npm.pid, "SIGTERM")],
  ["Ctrl-C", ({ npm }) => process.kill(-npm.pid, "SIGINT")],
  [
    "Ctrl-C twice",
    ({ npm }) => {
      process.kill(-npm.pid, "SIGINT");
      setTimeout(() => signalGroup(npm), 100);
    },
  ],
  ["SIGKILL to the script that npm runs", ({ script }) => process.kill(script, "SIGKILL")],
];

test.each(WAYS)("`npm start` stopped by %s ends server and database", async (_name, end) => {
  try {
    const started = await startWithNpm();

    end(started);

    await started.npm.ended;
    await eventually("script, server and database gone", { withinMs: 10_000 }, () =>
      Promise.resolve([started.script, started.server, started.database].some(isAlive) ? undefined : true),
    );
    expect(started.npm.isRunning()).toBe(false);
  } finally {
    await cleanUpNow();
  }
});

type Started = {
  readonly npm: Program;
  /** Process numbers of what npm started. */
  readonly script: number;
  readonly server: number;
  readonly database: number;
};

async function startWithNpm(): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), "weft-npm-start-"));
  cleanUpLater({ name: folder, run: () => rmSync(folder, { recursive: true, force: true }) });
  const npm = startProgram({
    name: "npm start",
    program: "npm",
    args: ["start"],
    cwd: repositoryPath(),
    env: { WEFT_DATA_DIR: folder, WEFT_LISTEN: "127.0.0.1:0" },
  });
  await npm.waitForLine("weft is running", 120_000, (line) => line.includes("weft is running") || undefined);
  const database = Number(readFileSync(join(folder, "database/cluster/postmaster.pid"), "utf8").split("\n")[0]);
  const server = descendantOf(npm.pid, "apps/api/dist/main.js");
  return { npm, script: descendantOf(npm.pid, "scripts/start.mjs"), server, database };
}

/** The number of the process below `pid` that is Node running a program of that name. */
function descendantOf(pid: number, program: string): number {
  const below = [pid];
  for (const parent of below) {
    const children = readFileSync(`/proc/${String(parent)}/task/${String(parent)}/children`, "utf8");
    below.push(...children.split(" ").filter(Boolean).map(Number));
  }
  const found = below.find((candidate) => {
    const [node, script] = readFileSync(`/proc/${String(candidate)}/cmdline`, "utf8").split("\0");
    return node?.endsWith("node") === true && script?.endsWith(program) === true;
  });
  if (found === undefined) throw new Error(`no ${program} below process ${String(pid)}`);
  return found;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function signalGroup(npm: Program): void {
  // Everything may have ended meanwhile.
  if (npm.isRunning()) process.kill(-npm.pid, "SIGINT");
}
