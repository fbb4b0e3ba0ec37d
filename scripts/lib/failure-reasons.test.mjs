import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { formatFailure, reasonOfOutput, reasonOfVitestError, rustFailures } from "./failure-reasons.mjs";

const NESTED = `
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
describe("outer", () => {
  describe("inner", () => {
    test("fails", () => assert.equal(1, 2, "one is not two"));
    test("passes", () => {});
    test("waits", { skip: "needs root" }, () => {});
  });
});
describe("broken set-up", () => {
  before(() => { throw new Error("no room"); });
  test("never runs", () => {});
});
`;

describe("the summary of node's tests", () => {
  test("names leaf failures with message and place, and no group that only holds them", () => {
    const lines = summaryOf(NESTED);

    const of = (state) => lines.filter((line) => line.state === state).map(({ name }) => name);
    assert.deepEqual(of("passed"), ["passes"]);
    assert.deepEqual(of("skipped"), ["waits"]);
    assert.ok(of("failed").includes("fails"), `${of("failed")}`);
    assert.ok(!of("failed").includes("inner") && !of("failed").includes("outer"), `${of("failed")}`);
    const { why } = lines.find(({ name }) => name === "fails");
    assert.match(why[0], /one is not two/);
    assert.match(why.join("\n"), /at .*nested\.test\.mjs:6:/);
  });

  test("tells what broke a set-up", () => {
    const failed = summaryOf(NESTED).filter(({ state }) => state === "failed");

    assert.ok(
      failed.some(({ why }) => why.join("\n").includes("no room")),
      JSON.stringify(failed),
    );
  });

  test("takes a file that does not load for a failure", () => {
    const [line, ...others] = summaryOf(`import "./not-there.mjs";`);

    assert.equal(line.state, "failed");
    assert.deepEqual(others, []);
  });
});

describe("the failures of cargo", () => {
  const output = `
running 3 tests
test good ... ok
test bad::first ... FAILED
successes:

---- good stdout ----
panicked at nothing

failures:

---- bad::first stdout ----
set-up printed this

thread 'bad::first' (12) panicked at crates/wire/src/lib.rs:7:9:
assertion \`left == right\` failed: told so
  left: 1
 right: 2
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace


failures:
    bad::first

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
`;

  test("carry what the test panicked with, and where", () => {
    assert.deepEqual(rustFailures(output), [
      {
        name: "bad::first",
        reason: [
          "thread 'bad::first' (12) panicked at crates/wire/src/lib.rs:7:9:",
          "assertion `left == right` failed: told so",
          "  left: 1",
          " right: 2",
        ],
      },
    ]);
  });

  test("that are none leave nothing", () => {
    assert.deepEqual(rustFailures(output.slice(0, output.indexOf("failures:"))), []);
  });
});

describe("a reason", () => {
  test("keeps the place behind a long message and is at most 12 lines long", () => {
    const message = Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n");
    const stacks = Array.from({ length: 9 }, (_, at) => ({ file: "/a.ts", line: at, column: 1, method: "" }));
    const reason = reasonOfVitestError({ message, stacks });

    assert.equal(reason.length, 12);
    assert.equal(reason[0], "line 0");
    assert.equal(reason[7], "… 43 more lines");
    assert.equal(reason[8], "at /a.ts:0:1");
  });

  test("of a runner that died is its first error, or the last it said", () => {
    assert.deepEqual(reasonOfOutput("fine\nerror[E0308]: mismatched types\n --> src/lib.rs:1:2"), [
      "error[E0308]: mismatched types",
      " --> src/lib.rs:1:2",
    ]);
    assert.deepEqual(reasonOfOutput("one\ntwo\n"), ["one", "two"]);
  });

  test("stands indented under the name", () => {
    assert.equal(formatFailure({ name: "a.ts: fails", reason: ["why", "at b"] }), "a.ts: fails\n      why\n      at b");
  });
});

function summaryOf(text) {
  const folder = mkdtempSync(join(tmpdir(), "weft-summary-"));
  try {
    const [file, summary] = [join(folder, "nested.test.mjs"), join(folder, "summary.jsonl")];
    writeFileSync(file, text);
    const reporter = fileURLToPath(new URL("node-summary.mjs", import.meta.url));
    // Without this variable the inner run would report to the outer one.
    const { NODE_TEST_CONTEXT: _outer, ...env } = process.env;
    spawnSync(
      process.execPath,
      ["--test", `--test-reporter=${reporter}`, `--test-reporter-destination=${summary}`, file],
      {
        env,
      },
    );
    return readFileSync(summary, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
