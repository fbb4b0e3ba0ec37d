import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

import { adminCli, type AdminCli } from "../harness/admin-cli.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { createOwner, startServer, type OwnedNetwork, type Server } from "../harness/server.ts";

let server: Server;
let owned: OwnedNetwork;
let cli: AdminCli;

beforeAll(async () => {
  server = await startServer();
  owned = await createOwner(server, "correct horse battery staple");
  cli = await adminCli(server.url, owned.client);
});
afterAll(async () => {
  await server.stop();
  await cleanUpNow();
});

const IdSchema = z.looseObject({ id: z.string() });
const ListSchema = z.object({ items: z.array(z.looseObject({ name: z.string() })), nextCursor: z.string().nullable() });

/** Runs a command that must succeed, and reads its answer. */
async function answerOf(...words: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await cli.run([...words, "--json"]);
  expect(code === 0 ? stderr : stderr + stdout).toBe("");
  return JSON.parse(stdout);
}

test("F-F4 every operation that the server describes is a command of the built program", async () => {
  const DocumentSchema = z.object({
    paths: z.record(z.string(), z.record(z.string(), z.object({ operationId: z.string() }))),
  });
  const response = await fetch(`${server.url}/api/v1/openapi.json`);
  const { paths } = DocumentSchema.parse(await response.json());
  const names = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const verbsOf = new Map<string, string[]>();
  for (const name of names) {
    const [noun = "", verb = ""] = name.split(".").map(kebab);
    verbsOf.set(noun, [...(verbsOf.get(noun) ?? []), verb]);
  }
  const missing: string[] = [];
  for (const [noun, verbs] of verbsOf) {
    const { stdout } = await cli.run([noun, "--help"]);
    for (const verb of verbs) if (!new RegExp(`^ {2}${verb}[ \\n]`, "m").test(stdout)) missing.push(`${noun} ${verb}`);
  }

  expect(names.length).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});

test("F-F4 lists, items, fields of every kind, files, versions and deletions work against a real server", async () => {
  const { networkId } = owned;
  const made = [];
  for (const name of ["a", "b", "c"])
    made.push(IdSchema.parse(await answerOf("groups", "create", networkId, "--name", name)));
  const [first, second] = made;
  if (!first || !second) throw new Error("groups were made");

  // Query fields, pages, all pages.
  const page = ListSchema.parse(await answerOf("groups", "list", networkId, "--limit", "2", "--sort", "-name"));
  expect(page.items.map(({ name }) => name)).toEqual(["c", "b"]);
  expect(page.nextCursor).not.toBeNull();
  const all = ListSchema.parse(await answerOf("groups", "list", networkId, "--all", "--sort", "name"));
  expect(all.items.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  const text = await cli.run(["groups", "list", networkId, "--count", "true"]);
  expect(text.stdout).toContain("3 in all");

  // Lists of words, numbers, null, JSON.
  const key = await answerOf(
    "enrolment-keys",
    "create",
    networkId,
    "--group-ids",
    `${first.id},${second.id}`,
    "--uses-max",
    "null",
    "--expires-in-seconds",
    "600",
  );
  expect(key).toMatchObject({ usesMax: null, groupIds: [first.id, second.id].toSorted() });
  const source = JSON.stringify({ kind: "group", id: first.id });
  expect(
    await answerOf(
      "rules",
      "create",
      networkId,
      "--source",
      source,
      "--protocol",
      "tcp",
      "--ports",
      '[{"low":1,"high":2}]',
    ),
  ).toMatchObject({
    source: { kind: "group", id: first.id },
    ports: [{ low: 1, high: 2 }],
  });

  // A body from standard input, and one from a file that the command line adds to.
  const piped = await cli.run(["groups", "create", networkId, "--input", "-", "--json"], { input: '{"name":"piped"}' });
  expect(JSON.parse(piped.stdout)).toMatchObject({ name: "piped" });
  await writeFile(
    join(cli.folder, "settings.json"),
    JSON.stringify({ state: "on", searchDomains: [], leftAloneGroupIds: [] }),
  );
  const settings = await cli.run([
    "name-settings",
    "replace",
    networkId,
    "--input",
    "settings.json",
    "--domain",
    "lab.weft",
  ]);
  expect(settings).toMatchObject({ code: 6 });
  expect(settings.stderr).toMatch(
    /give the etag of the item, or \*, as --if-match \(version_required, request [\w-]+\)\n$/,
  );
  const replaced = await cli.run([
    "name-settings",
    "replace",
    networkId,
    "--input",
    "settings.json",
    "--domain",
    "lab.weft",
    "--if-match",
    "*",
    "--json",
  ]);
  expect(JSON.parse(replaced.stdout)).toMatchObject({ domain: "lab.weft" });

  // The version that a reading shows is the one that a change takes; it is over after that.
  const shown = await cli.run(["groups", "get", first.id]);
  const tag = /^version for --if-match: (".*")$/m.exec(shown.stdout)?.[1] ?? "";
  expect(await answerOf("groups", "update", first.id, "--name", "renamed", "--if-match", tag)).toMatchObject({
    name: "renamed",
  });
  expect(await cli.run(["groups", "update", first.id, "--name", "again", "--if-match", tag])).toMatchObject({
    code: 6,
  });
  expect(await cli.run(["groups", "remove", second.id])).toMatchObject({ code: 0, stdout: "done\n" });
  expect(await cli.run(["groups", "get", second.id])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("(not_found, request "),
  });

  // A file.
  const backup = IdSchema.parse(await answerOf("backups", "create"));
  expect(await cli.run(["backups", "download", backup.id, "--output", "backup"])).toMatchObject({ code: 0 });
  expect((await readFile(join(cli.folder, "backup"))).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  expect(await cli.run(["backups", "download", backup.id, "--output", "backup"])).toMatchObject({ code: 1 });

  // Actions, and a token that is none.
  expect(await answerOf("policy", "test", networkId)).toEqual({ tests: [] });
  const forged = await cli.run(["networks", "list", "--json"], {
    env: { WEFT_TOKEN_FILE: join(cli.folder, "settings.json") },
  });
  expect(forged.code).toBe(7);
});

test("F-F5 a file goes from one server to another, with codes that scripts can tell apart", async () => {
  const { networkId } = owned;
  await answerOf("webhooks", "create", "--name", "chat", "--url", "https://hooks.example.org/x");
  await answerOf("enrolment-keys", "create", networkId, "--name", "racks", "--uses-max", "5");
  expect(await cli.run(["config", "export", "--output", "weft.yaml"])).toMatchObject({ code: 0 });
  const file = await readFile(join(cli.folder, "weft.yaml"), "utf8");
  expect((await cli.run(["config", "export"])).stdout).toBe(file);
  expect(await cli.run(["config", "plan", "weft.yaml", "--prune"])).toMatchObject({ code: 0 });

  const other = await startServer();
  const target = await createOwner(other, "correct horse battery staple", "to be removed");
  const there = await adminCli(other.url, target.client);
  await writeFile(join(there.folder, "weft.yaml"), file);
  const plan = await there.run(["config", "plan", "weft.yaml", "--prune"]);
  expect(plan.code).toBe(11);
  expect(plan.stdout).toContain("- networks/to be removed");
  expect(plan.stdout).toContain("    ! its peers, keys and rules go with it");
  expect(plan.stdout).toMatch(/^\+ lab\/enrolmentKeys\/racks$/m);
  // Nobody is there to ask, and a reviewed tag of another plan is not this one.
  expect(await there.run(["config", "apply", "weft.yaml"])).toMatchObject({ code: 2 });
  const tag = /^tag (\S+)$/m.exec(plan.stdout)?.[1] ?? "";
  expect(await there.run(["config", "apply", "weft.yaml", "--tag", tag])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("plan_stale"),
  });
  const done = await there.run(["config", "apply", "-", "--prune", "--tag", tag], { input: file });
  expect(done.code).toBe(0);
  expect(done.stdout).toMatch(/^lab\/enrolmentKeys\/racks: weft_enr_\w+/m);
  expect((await there.run(["config", "export"])).stdout).toBe(file);
  expect(await there.run(["config", "apply", "weft.yaml", "--prune", "--yes"])).toMatchObject({
    code: 0,
    stdout: "nothing to do\n",
  });

  await writeFile(
    join(there.folder, "weft.yaml"),
    "weft: 1\nnetworks:\n  - name: lab\n    groups: [{ name: g, colour: red }]\n",
  );
  const faulty = await there.run(["config", "plan", "weft.yaml"]);
  expect(faulty).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("/networks/0/groups/0/colour: this field does not exist"),
  });
  await other.stop();
});
