import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startExternalPostgres } from "./external-postgres.mjs";
import { reasonOfOutput, rustFailures } from "./failure-reasons.mjs";
import { bin, root, run } from "./run.mjs";

/**
 * Each runner resolves with `{ passed, failed, failures: { name, reason: string[] }[], skipped: string[] }`.
 * Skips carry their reason: a reader must see what was not proven on this machine.
 */
export const runners = [
  { name: "rust", title: "Rust crates", run: cargoTests },
  { name: "addon", title: "addon from JavaScript", run: (show) => nodeTests(show, "native/npm/test") },
  { name: "scripts", title: "the scripts themselves", run: (show) => nodeTests(show, "scripts/lib") },
  {
    name: "unit",
    title: "protocol, client, data plane, agent, dashboard",
    run: (show) => vitest(show, projects("protocol", "client", "dataplane", "agent", "web")),
  },
  { name: "api", title: "control plane on the embedded PostgreSQL", run: (show) => vitest(show, projects("api")) },
  { name: "api-external", title: "control plane on an external PostgreSQL", run: apiOnExternalPostgres },
  {
    name: "e2e",
    title: "end to end: namespaces, browser, interoperability",
    run: (show) => vitest(show, ["--config", "e2e/vitest.config.ts"]),
  },
];

const projects = (...names) => names.flatMap((name) => ["--project", name]);

async function cargoTests(show) {
  const { status, output } = await run(
    "cargo",
    ["test", "--workspace", "--features", "ports/contract", "--no-fail-fast", "--", "--show-output"],
    {
      cwd: join(root, "native"),
      onLine: show,
      allowFailure: true,
    },
  );
  const counts = [...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm)];
  const skipped = [...new Set([...output.matchAll(/^skipped: (.*)$/gm)].map((match) => match[1]))];
  return honest(status, output, {
    passed: sum(counts.map((match) => match[1])),
    failed: sum(counts.map((match) => match[2])),
    failures: rustFailures(output),
    skipped,
  });
}

/** Runs `node --test` on the test files of a folder. */
function nodeTests(show, folder) {
  const files = readdirSync(join(root, folder)).filter((name) => name.endsWith(".test.mjs"));
  return withSummary(async (file) => {
    const reporters = [
      "--test-reporter=tap",
      "--test-reporter-destination=stdout",
      `--test-reporter=${pathToFileURL(join(root, "scripts/lib/node-summary.mjs"))}`,
      `--test-reporter-destination=${file}`,
    ];
    return run(process.execPath, ["--test", ...reporters, ...files], {
      cwd: join(root, folder),
      onLine: show,
      allowFailure: true,
    });
  });
}

function vitest(show, args, env = {}) {
  return withSummary((file) =>
    run(
      bin("vitest"),
      ["run", ...args, "--reporter=default", "--reporter=./scripts/lib/vitest-summary.mjs", "--passWithNoTests=false"],
      { onLine: show, allowFailure: true, env: { ...env, WEFT_TEST_SUMMARY: file, NO_COLOR: "1" } },
    ),
  );
}

/** Runs a program that writes one JSON line per test to a file, and counts them. */
async function withSummary(start) {
  const folder = mkdtempSync(join(tmpdir(), "weft-tests-"));
  const file = join(folder, "summary.jsonl");
  try {
    const { status, output } = await start(file);
    const lines = existsSync(file)
      ? readFileSync(file, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      : [];
    const of = (state) => lines.filter((line) => line.state === state);
    return honest(status, output, {
      passed: of("passed").length,
      failed: of("failed").length,
      failures: of("failed").map(({ file: path, name, why }) => ({ name: `${path}: ${name}`, reason: why ?? [] })),
      skipped: of("skipped").map(({ name, reason }) => `${name}${reason ? `: ${reason}` : ""}`),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function apiOnExternalPostgres(show) {
  const given = process.env.WEFT_TEST_DATABASE_URL;
  if (given) return vitest(show, projects("api"), { WEFT_TEST_DATABASE_URL: given });
  const server = await startExternalPostgres();
  if (server.reason)
    return {
      passed: 0,
      failed: 0,
      failures: [],
      skipped: [`control plane on an external PostgreSQL: ${server.reason}`],
    };
  try {
    return await vitest(show, projects("api"), { WEFT_TEST_DATABASE_URL: server.url });
  } finally {
    await server.stop();
  }
}

/** A runner that exits with an error but counted no failure crashed: that is one. */
function honest(status, output, result) {
  if (status === 0 || result.failed > 0) return result;
  const failure = { name: `the runner ended with status ${status}`, reason: reasonOfOutput(output) };
  return { ...result, failed: 1, failures: [failure] };
}

const sum = (texts) => texts.reduce((total, text) => total + Number(text), 0);
