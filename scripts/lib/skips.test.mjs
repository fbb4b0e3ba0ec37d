import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "./run.mjs";
import { skipsForLackOfTools } from "./skips.mjs";

describe("P-19: a skip fails CI", () => {
  test("a tool that is not there is no excuse; a program that only a path can name is one, and so is what the machine forbids", () => {
    const skipped = [
      "e2e: mesh > pings: iperf3 is not installed",
      "e2e: interop > amneziawg-go 3.1: amneziawg-go is not installed; set WEFT_BENCH_AMNEZIAWG_GO to its program",
      "opens a device: other users may not open /dev/net/tun here",
    ];

    assert.deepEqual(skipsForLackOfTools(skipped), [skipped[0]]);
  });

  test("npm test has the option and refuses one that it does not know", () => {
    const run = (option) => spawnSync(process.execPath, ["scripts/test.mjs", option], { cwd: root, encoding: "utf8" });

    assert.match(run("--help").stdout, /--all-tools/);
    const unknown = run("--all-tool");
    assert.notEqual(unknown.status, 0);
    assert.match(`${unknown.stdout}${unknown.stderr}`, /--all-tool/);
  });

  test("CI asks for it, and installs the tools that scripts and tests call", () => {
    const ci = readFileSync(join(root, ".ci/run"), "utf8");

    assert.match(ci, /npm test .*--all-tools/);
    for (const tool of ["iproute2", "iputils-ping", "tcpdump", "nftables", "iperf3", "ethtool"]) {
      assert.match(ci, new RegExp(`^ .*\\b${tool}\\b`, "m"), tool);
    }
  });
});
