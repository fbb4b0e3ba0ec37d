import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

import { argv } from "../../harness/argv.ts";
import { cleanUpLater } from "../../harness/cleanup.ts";
import { createLab, type Host } from "../../harness/namespaces.ts";
import { repositoryPath } from "../../harness/repository.ts";
import { mustRun } from "../../harness/run-command.ts";
import { findProgram } from "../../harness/tools.ts";
import type { RoundSample } from "../ratios.ts";
import type { Skipped } from "../report.ts";
import { createRowCollector } from "../row-collector.ts";
import type { SuiteBody, SuiteContext } from "./suite-run.ts";

/** The native micro-benchmarks, with what each covers. The groups inside them become cases. */
const PROGRAMS = [
  { name: "offload", crate: "offload", bench: "offload" },
  { name: "checksum", crate: "packet", bench: "checksum" },
  { name: "aead", crate: "benches", bench: "aead" },
  { name: "tun-write", crate: "benches", bench: "tun_write" },
  { name: "tables", crate: "benches", bench: "tables" },
] as const;
/** Names of what `--case` can choose. */
export const OFFLOAD_CASES: readonly string[] = PROGRAMS.map(({ name }) => name);

/** Runs the native micro-benchmarks in a namespace of their own and reads back what they wrote. */
export async function runOffloadSuite({ options, wants, progress }: SuiteContext): Promise<SuiteBody> {
  const settings = { rounds: options.rounds, seconds: options.seconds };
  const cargo = findProgram("cargo");
  if (cargo === undefined)
    return { settings, cases: [], skipped: [{ contender: MICRO, reason: "cargo is not there" }], problems: [] };
  const chosen = PROGRAMS.filter(({ name }) => wants(name, MICRO));
  const skipped: Skipped[] = [];
  const features = process.env["WEFT_BENCH_AWS_LC"] === undefined ? [] : ["--features", "benches/aws-lc"];
  if (features.length === 0 && wants("aead", MICRO))
    skipped.push({ contender: "aws-lc-rs", case: "aead", reason: "WEFT_BENCH_AWS_LC is not set (builds a C library)" });
  progress("building the micro-benchmarks");
  const programs = await buildPrograms(cargo, chosen, features);
  const lab = await createLab();
  const collector = createRowCollector(progress);
  try {
    const host = await lab.host("micro");
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const { name, path } of programs) {
        const results = await runProgram(host, path, options.seconds);
        skipped.push(
          ...(results.length === 0 ? [{ contender: MICRO, case: name, reason: "it could not run here" }] : []),
        );
        results.forEach(({ title, unit, sample }) =>
          collector.add({ name: title, unit, contender: MICRO }, { ...sample, round }),
        );
      }
    }
  } finally {
    await lab.dispose();
  }
  return { settings, cases: collector.rows(), skipped, problems: [] };
}

type Built = { readonly name: string; readonly path: string };

async function buildPrograms(
  cargo: string,
  chosen: readonly (typeof PROGRAMS)[number][],
  features: readonly string[],
): Promise<Built[]> {
  const packages = [...new Set(chosen.map(({ crate }) => crate))].flatMap((crate) => ["-p", crate]);
  const benches = chosen.flatMap(({ bench }) => ["--bench", bench]);
  const output = await mustRun(
    cargo,
    ["bench", "--no-run", "--message-format", "json", ...packages, ...benches, ...features],
    { cwd: repositoryPath("native"), timeoutMs: BUILD_MS },
  );
  const artifacts = output.split("\n").flatMap((line) => {
    const parsed = Artifact.safeParse(parseJson(line));
    return parsed.success ? [parsed.data] : [];
  });
  return chosen.map(({ name, bench }) => {
    const found = artifacts.find(({ target }) => target.name === bench && target.kind.includes("bench"));
    if (!found) throw new Error(`cargo built no benchmark ${bench}`);
    return { name, path: found.executable };
  });
}

type Result = { readonly title: string; readonly unit: string; readonly sample: Omit<RoundSample, "round"> };

/** Runs one program and returns the median of each of its benchmarks. */
async function runProgram(host: Host, path: string, seconds: number): Promise<Result[]> {
  const folder = await mkdtemp(join(tmpdir(), "weft-criterion-"));
  const forget = cleanUpLater({ name: folder, run: () => rm(folder, { recursive: true, force: true }) });
  try {
    await host.must(path, argv`--bench --noplot --warm-up-time 0.3 --measurement-time ${seconds} --sample-size 20`, {
      env: { CRITERION_HOME: folder },
      timeoutMs: RUN_MS,
    });
    const files = await readdir(folder, { recursive: true });
    const results = files
      .filter((file) => file.endsWith("/new/benchmark.json"))
      .map(async (file) => {
        const about = Benchmark.parse(JSON.parse(await readFile(join(folder, file), "utf8")));
        const estimates = join(folder, file.replace("benchmark.json", "estimates.json"));
        return describe(about, Estimates.parse(JSON.parse(await readFile(estimates, "utf8"))));
      });
    return (await Promise.all(results)).toSorted((left, right) => (left.title < right.title ? -1 : 1));
  } finally {
    await forget();
  }
}

/** Bytes become GB/s (10^9), things become ns for each, the rest ns for each call. */
export function describe(about: z.infer<typeof Benchmark>, estimates: z.infer<typeof Estimates>): Result {
  const nanoseconds = estimates.median.point_estimate;
  const title = about.full_id;
  const { Bytes: bytes, Elements: elements } = about.throughput ?? {};
  if (typeof bytes === "number")
    return { title, unit: "GB/s", sample: { value: bytes / nanoseconds, extra: { nanoseconds } } };
  const each = nanoseconds / (elements ?? 1);
  return { title, unit: "ns", sample: { value: each, extra: {} } };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const Artifact = z.object({
  reason: z.literal("compiler-artifact"),
  target: z.object({ name: z.string(), kind: z.array(z.string()) }),
  executable: z.string(),
});
const Benchmark = z.object({
  full_id: z.string(),
  throughput: z.object({ Bytes: z.number().optional(), Elements: z.number().optional() }).nullable(),
});
const Estimates = z.object({ median: z.object({ point_estimate: z.number() }) });
const MICRO = "micro";
const BUILD_MS = 1_200_000;
const RUN_MS = 600_000;
