import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

import { cleanUpLater, cleanUpNow } from "../harness/cleanup.ts";
import { eventually } from "../harness/eventually.ts";
import { isStillRunning, markProcess, type ProcessMark } from "../harness/process-mark.ts";
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
  ["SIGKILL to the script that npm runs", ({ script }) => process.kill(script.pid, "SIGKILL")],
];

test.each(WAYS)("`npm start` stopped by %s ends server and database", async (_name, end) => {
  try {
    const started = await startWithNpm();

    end(started);

    await started.npm.ended;
    await eventually("script, server and database gone", { withinMs: 10_000 }, () =>
      Promise.resolve([started.script, started.server, started.database].some(isStillRunning) ? undefined : true),
    );
    expect(started.npm.isRunning()).toBe(false);
  } finally {
    await cleanUpNow();
  }
});

type Started = {
  readonly npm: Program;
  /** What npm started. */
  readonly script: ProcessMark;
  readonly server: ProcessMark;
  readonly database: ProcessMark;
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
  return {
    npm,
    // The first one that a failed test stops is the newest: the script, which would start nothing again.
    database: endedLater("database", database),
    server: endedLater("server", descendantOf(npm.pid, "apps/api/dist/main.js")),
    script: endedLater("script", descendantOf(npm.pid, "scripts/start.mjs")),
  };
}

/** Marks a process that must be gone at the end; whatever a failed test leaves of it is killed. */
function endedLater(name: string, pid: number): ProcessMark {
  const mark = markProcess(pid);
  if (mark === undefined) throw new Error(`the ${name}, process ${String(pid)}, has ended already`);
  const kill = (): void => {
    if (isStillRunning(mark)) process.kill(pid, "SIGKILL");
  };
  cleanUpLater({ name, run: kill, runSync: kill });
  return mark;
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

function signalGroup(npm: Program): void {
  // Everything may have ended meanwhile.
  if (npm.isRunning()) process.kill(-npm.pid, "SIGINT");
}
