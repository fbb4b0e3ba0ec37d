import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";

import { listPeers } from "../harness/agents.ts";
import { cleanUpLater, cleanUpNow, endWellOnSignals, isEnding } from "../harness/cleanup.ts";
import { eventually } from "../harness/eventually.ts";
import { startProgram, type Program } from "../harness/programs.ts";
import { builtProgram } from "../harness/repository.ts";
import {
  createJoinKey,
  createOwner,
  OWNER_LOGIN,
  startServer,
  type OwnedNetwork,
  type Server,
} from "../harness/server.ts";
import { chooseListen } from "./choose-listen.ts";
import { demoFolder, recordProcesses, removeLeftovers } from "./leftovers.ts";
import { findRoom, type Room } from "./room.ts";
import { FromStageSchema, type FromStage, type ToStage } from "./stage-protocol.ts";

/** Server, two hosts and traffic between them, until a signal or the end of the parent. Returns the exit code. */
async function main(): Promise<number> {
  endWellOnSignals();
  const answer = await findRoom();
  if (!answer.ok) {
    process.stderr.write(`The demo cannot run here: ${answer.reason}\n`);
    return 1;
  }
  if ((await removeLeftovers()) > 0) step("removed what an earlier demo left behind");
  const folder = demoFolder();
  // Readable for others: the database may run as a user of its own, who must be able to walk through.
  mkdirSync(folder, { mode: 0o755 });
  cleanUpLater({ name: folder, run: () => rmSync(folder, { recursive: true, force: true }) });
  followParent();

  const server = await startServer({ folder, listen: await chooseListen() });
  step(`server listens on ${server.url}`);
  const password = randomBytes(9).toString("base64url");
  const owned = await createOwner(server, password, "demo");
  step("owner account and network created");
  const stage = await startStage(answer.room, folder);
  recordProcesses(folder, [process.pid, server.program.pid, stage.program.pid]);
  await bringUpHosts(stage, owned);
  printWelcome(server, password);
  return Promise.race([
    stage.failed.then((reason) => fail(`The demo stopped: ${reason}`)),
    server.program.ended.then(() => fail(`The server ended:\n${server.program.logs().slice(-2_000)}`)),
  ]);
}

type Stage = {
  readonly program: Program;
  readonly tell: (command: ToStage) => void;
  readonly hear: (kind: FromStage["kind"], withinMs: number) => Promise<FromStage>;
  readonly failed: Promise<string>;
};

async function startStage(room: Room, folder: string): Promise<Stage> {
  let reportFailure: (reason: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => (reportFailure = resolve));
  const program = startProgram({
    name: "stage",
    program: room.program,
    args: [...room.args, process.execPath, builtProgram("demo/stage.js"), folder],
    onLine: (line) => {
      const message = parse(line);
      if (message?.kind === "failed") reportFailure(message.reason);
    },
    stopBy: "closing its input",
  });
  void program.ended.then((code) => {
    reportFailure(`the stage ended with ${String(code)}: ${program.logs().slice(-1_000)}`);
    return code;
  });
  const hear: Stage["hear"] = (kind, withinMs) =>
    Promise.race([
      program.waitForLine(kind, withinMs, (line) => {
        const message = parse(line);
        return message?.kind === kind ? message : undefined;
      }),
      failed.then((reason) => Promise.reject(new Error(reason))),
    ]);
  await hear("ready", 20_000);
  return { program, failed, hear, tell: (command) => program.write(`${JSON.stringify(command)}\n`) };
}

async function bringUpHosts(stage: Stage, { client, networkId }: OwnedNetwork): Promise<void> {
  const [first, second] = HOSTS;
  stage.tell({ kind: "join", key: await createJoinKey(client, networkId), hosts: [first, second] });
  const ready = eventually("both hosts online with their map applied", { withinMs: 60_000 }, async () => {
    const rows = (await listPeers(client, networkId)).filter(
      ({ presence, map }) => presence === "online" && map.state === "applied",
    );
    return rows.length === HOSTS.length ? rows : undefined;
  });
  const peers = await Promise.race([ready, stage.failed.then((reason) => Promise.reject(new Error(reason)))]);
  for (const { name, ipv4, ipv6 } of peers) step(`host ${name} joined as ${[ipv4, ipv6].join(" and ")}`);
  const address = peers.find(({ name }) => name === second)?.ipv4?.split("/")[0];
  if (address === undefined) throw new Error(`host ${second} has no IPv4 address`);
  stage.tell({ kind: "traffic", from: first, to: second, address });
  await stage.hear("flowing", 45_000);
  step("traffic flows through the tunnel");
}

function printWelcome(server: Server, password: string): void {
  process.stdout.write(
    `\n  Dashboard  ${server.url}\n  Login      ${OWNER_LOGIN}\n  Password   ${password}\n\n` +
      "  Two hosts in namespaces of their own exchange a few Mbit/s. Ctrl-C removes everything.\n\n",
  );
}

function step(text: string): void {
  process.stdout.write(`  ✓ ${text}\n`);
}

function fail(reason: string): number {
  if (isEnding()) return 0;
  process.stderr.write(`${reason}\n`);
  return 1;
}

function parse(line: string): FromStage | undefined {
  try {
    return FromStageSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** Ends the demo when whoever started it was killed: nobody could stop it any more. */
function followParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
  }, PARENT_CHECK_MS).unref();
}

const HOSTS = ["ada", "grace"] as const;
const PARENT_CHECK_MS = 1_000;

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = fail(`The demo could not start: ${error instanceof Error ? error.message : String(error)}`);
}
await cleanUpNow();
process.exit();
