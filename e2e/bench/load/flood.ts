import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

import { argv } from "../../harness/argv.ts";
import { cleanUpLater } from "../../harness/cleanup.ts";
import type { Host } from "../../harness/namespaces.ts";
import { startProgram, type Program } from "../../harness/programs.ts";
import type { Provided } from "../../harness/provide-plain.ts";
import { repositoryPath } from "../../harness/repository.ts";
import { mustRun } from "../../harness/run-command.ts";
import { findProgram } from "../../harness/tools.ts";

export type FloodOptions = {
  readonly from: Host;
  readonly to: string;
  readonly port: number;
  readonly datagrams: readonly Buffer[];
  readonly perSecond: number;
  readonly seconds: number;
  /** Sender addresses besides the host's own; they are made local there and must be routed back to it. */
  readonly sources?: { readonly first: string; readonly count: number };
};

/** A flood that runs; `done` says how much of it left. */
export type Flood = { readonly done: Promise<FloodResult> };
export type FloodResult = z.infer<typeof FloodOutput>;

/** How long a build from nothing may take. */
export const FLOOD_BUILD_MS = 900_000;

/** Builds the sender of floods once per run. */
export function provideFlood(): Promise<Provided> {
  build ??= buildFlood();
  return build;
}

/** Starts sending prepared datagrams over and over at a fixed rate. Only between namespaces of ours, for a bounded time. */
export async function startFlood(options: FloodOptions): Promise<Flood> {
  const provided = await provideFlood();
  if ("reason" in provided) throw new Error(provided.reason);
  const folder = await mkdtemp(join(tmpdir(), "weft-flood-"));
  const forget = cleanUpLater({ name: folder, run: () => rm(folder, { recursive: true, force: true }) });
  const file = join(folder, "datagrams");
  await writeFile(file, Buffer.concat(options.datagrams.flatMap(framed)));
  const { sources } = options;
  const program: Program = startProgram({
    name: `flood from ${options.from.label}`,
    program: provided.path,
    args: [
      ...argv`--to ${`${options.to}:${String(options.port)}`} --file ${file}`,
      ...argv`--rate ${options.perSecond} --seconds ${options.seconds}`,
      ...(sources === undefined ? [] : ["--sources", `${sources.first}/${String(sources.count)}`]),
    ],
    host: options.from,
  });
  const finish = async (): Promise<FloodResult> => {
    await program.ended;
    await forget();
    return FloodOutput.parse(JSON.parse(program.logs().trim().split("\n").at(-1) ?? ""));
  };
  return { done: finish() };
}

async function buildFlood(): Promise<Provided> {
  const cargo = findProgram("cargo");
  if (cargo === undefined) return { reason: "cargo is not there to build the sender of floods" };
  try {
    await mustRun(cargo, ["build", "--release", "--quiet", "-p", "benches", "--example", "flood"], {
      cwd: repositoryPath("native"),
      timeoutMs: FLOOD_BUILD_MS,
    });
    return { path: repositoryPath("native", "target", "release", "examples", "flood") };
  } catch (error) {
    return { reason: `the sender of floods does not build: ${String(error).slice(-500)}` };
  }
}

function framed(datagram: Buffer): Buffer[] {
  const length = Buffer.alloc(2);
  length.writeUInt16LE(datagram.length);
  return [length, datagram];
}

const FloodOutput = z.object({ sent: z.number(), refused: z.number(), seconds: z.number() });
let build: Promise<Provided> | undefined;
