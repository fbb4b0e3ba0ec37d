import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startExternalPostgres } from "./external-postgres.mjs";
import { bin, root, run } from "./run.mjs";

/**
 * Each runner resolves with `{ passed, failed, failures: string[], skipped: string[] }`.
 * Skips carry their reason: a reader must see what was not proven on this machine.
 */
export const runners = [
  { name: "rust", title: "Rust crates", run: cargoTests },
  { name: "addon", title: "addon from JavaScript", run: addonTests },
  {
    name: "unit",
    title: "protocol, data plane, agent, dashboard",
    run: (show) => vitest(show, projects("protocol", "dataplane", "agent", "web")),
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
  const failures = [...new Set([...output.matchAll(/^test (\S+) \.\.\. FAILED/gm)].map((match) => match[1]))];
  const skipped = [...new Set([...output.matchAll(/^skipped: (.*)$/gm)].map((match) => match[1]))];
  return honest(status, output, {
    passed: sum(counts.map((match) => match[1])),
    failed: sum(counts.map((match) => match[2])),
    failures,
    skipped,
  });
}

async function addonTests(show) {
  const { status, output } = await run("npm", ["test", "--silent"], {
    cwd: join(root, "native/npm"),
    onLine: show,
    allowFailure: true,
  });
  const count = (word) =>
    sum([...output.matchAll(new RegExp(`^(?:#|ℹ) ${word} (\\d+)`, "gm"))].map((match) => match[1]));
  const skipped = [...output.matchAll(/^\s*(?:﹣|ok \d+ -) (.*?) (?:\(.*?\) )?# (?:SKIP )?(.*)$/gm)].map(
    (match) => `${match[1]}: ${match[2]}`,
  );
  const failures = [...output.matchAll(/^\s*(?:✖|not ok \d+ -) (.*)$/gm)].map((match) => match[1]);
  return honest(status, output, {
    passed: count("pass"),
    failed: count("fail") + count("cancelled"),
    failures,
    skipped,
  });
}

async function vitest(show, args, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), "weft-tests-"));
  const file = join(folder, "summary.jsonl");
  try {
    const { status, output } = await run(
      bin("vitest"),
      ["run", ...args, "--reporter=default", "--reporter=./scripts/lib/vitest-summary.mjs", "--passWithNoTests=false"],
      { onLine: show, allowFailure: true, env: { ...env, WEFT_TEST_SUMMARY: file, NO_COLOR: "1" } },
    );
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
      failures: of("failed").map(({ file: path, name, error }) => `${path}: ${name}\n      ${error ?? ""}`),
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
  const tail = output.trimEnd().split("\n").slice(-30).join("\n      ");
  return { ...result, failed: 1, failures: [`the runner ended with status ${status}:\n      ${tail}`] };
}

const sum = (texts) => texts.reduce((total, text) => total + Number(text), 0);
