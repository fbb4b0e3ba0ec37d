import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { readInstallation } from "../../os/installation.ts";
import { startControlPlane } from "../../testing/control-plane.ts";
import type { Answer } from "../context.ts";
import { runCli } from "../program.ts";

let host: string;
beforeEach(() => {
  host = mkdtempSync(join(tmpdir(), "weft-uninstall-"));
});
afterEach(() => rmSync(host, { recursive: true, force: true }));

/** Puts on "this host" what the install script would, and returns the path of the program. */
function install(change: object = {}): string {
  const prefix = join(host, "opt");
  for (const folder of ["lib", "bin"]) mkdirSync(join(prefix, folder), { recursive: true });
  mkdirSync(join(host, "state"));
  mkdirSync(join(host, "links"));
  const program = join(prefix, "lib", "weft.mjs");
  writeFileSync(program, "");
  symlinkSync(join(prefix, "bin", "weft"), join(host, "links", "weft"));
  const record = {
    version: 1,
    prefix,
    stateDirectory: join(host, "state"),
    link: join(host, "links", "weft"),
    unit: null,
    ...change,
  };
  writeFileSync(join(prefix, "install.json"), JSON.stringify(record));
  return program;
}

async function run(program: string, words: readonly string[], answer: Answer = "nobody") {
  let out = "";
  let err = "";
  const questions: string[] = [];
  const code = await runCli(words, {
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
    runForeground: () => Promise.resolve(0),
    whyNoTunnel: () => null,
    installation: readInstallation(program),
    confirm: (question) => {
      questions.push(question);
      return Promise.resolve(answer);
    },
  });
  return { code, out, err, questions };
}

describe("uninstall", () => {
  test("takes back program, link and state, and nothing else", async () => {
    const program = install();
    for (const name of ["identity.json", "weft.log", "weft.log.1", "map.bin.new-77"])
      writeFileSync(join(host, "state", name), "");

    const outcome = await run(program, ["uninstall", "--yes", "--json"]);

    expect(outcome.code).toBe(0);
    expect(JSON.parse(outcome.out)).toEqual({
      uninstalled: true,
      serverTold: null,
      removed: [join(host, "links", "weft"), join(host, "state"), join(host, "opt")],
      kept: [],
    });
    expect(readdirSync(host)).toEqual(["links"]);
    expect(readdirSync(join(host, "links"))).toEqual([]);
  });

  test("leaves the network first and keeps a directory that others use", async () => {
    const plane = await startControlPlane();
    const program = install();
    await run(program, ["join", plane.url, plane.joinKey, "--foreground"]);
    expect(existsSync(join(host, "state", "membership.json"))).toBe(true);
    writeFileSync(join(host, "state", "notes.txt"), "mine");

    const outcome = await run(program, ["uninstall", "--yes"]);

    expect(outcome).toMatchObject({ code: 0, err: "" });
    expect(outcome.out).toContain("left the network");
    expect(outcome.out).toContain("not weft's");
    expect(readdirSync(join(host, "state"))).toEqual(["notes.txt"]);
    await plane.stop();
  });

  test("a server that cannot be told stops it, unless forced", async () => {
    const plane = await startControlPlane();
    const program = install();
    await run(program, ["join", plane.url, plane.joinKey, "--foreground"]);
    await plane.stop();

    const refused = await run(program, ["uninstall", "--yes"]);
    expect(refused.code).toBe(5);
    expect(existsSync(program)).toBe(true);

    const forced = await run(program, ["uninstall", "--yes", "--force", "--json"]);
    expect(JSON.parse(forced.out)).toMatchObject({ serverTold: false });
    expect(existsSync(program)).toBe(false);
  });

  test.each([
    { answer: "no", code: 1, words: [] },
    { answer: "nobody", code: 2, words: [] },
    { answer: "yes", code: 2, words: ["--json"] },
  ] as const)("removes nothing when the answer is $answer $words", async ({ answer, code, words }) => {
    const program = install();

    const outcome = await run(program, ["uninstall", ...words], answer);

    expect(outcome.code).toBe(code);
    expect(outcome.questions).toHaveLength(words.length === 0 ? 1 : 0);
    expect(existsSync(program)).toBe(true);
  });

  test("a link that leads elsewhere by now stays", async () => {
    const program = install();
    rmSync(join(host, "links", "weft"));
    symlinkSync("/usr/bin/true", join(host, "links", "weft"));

    await run(program, ["uninstall", "--yes"]);

    expect(readdirSync(join(host, "links"))).toEqual(["weft"]);
  });

  test.each([
    { name: "a record of another folder", change: { prefix: "/opt/elsewhere" } },
    { name: "a record that is not whole", change: { stateDirectory: 7 } },
    { name: "a record of a later version", change: { version: 2 } },
  ])("$name is no installation", async ({ change }) => {
    const program = install(change);

    const outcome = await run(program, ["uninstall", "--yes", "--state-dir", join(host, "state")]);

    expect(outcome.code).toBe(1);
    expect(outcome.err).toContain("not put here by the install script");
    expect(existsSync(program)).toBe(true);
  });
});
