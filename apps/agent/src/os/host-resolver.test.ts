import { lstatSync, mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseIp } from "@weft/protocol";
import { mustBe } from "@weft/protocol/testing";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";

import { createHostResolver, type HostNames } from "./host-resolver.linux.ts";
import { parseResolvConf, withWeft } from "./resolv-conf.ts";
import { restoreLeftovers } from "./resolver-guard.ts";

let folder: string;
let path: string;
let backupPath: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weft-resolv-"));
  [path, backupPath] = [join(folder, "resolv.conf"), join(folder, "backup.json")];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const BEFORE = "# by hand\nnameserver 192.0.2.1\nnameserver 192.0.2.2\nsearch example.com\noptions ndots:2 edns0\n";
const names: HostNames = {
  interfaceName: "weft0",
  servers: [mustBe(parseIp("10.77.0.1"))],
  search: ["weft.internal"],
  domains: [],
  scope: "domains",
};
const open = () => createHostResolver({ backupPath, path });

test("CP-72 the host asks the agent first, keeps its own servers behind it, and has its file back afterwards", async () => {
  writeFileSync(path, BEFORE, { mode: 0o640 });
  const host = open();

  expect(await host.use(names)).toEqual({ ok: true, value: "file" });
  const during = readFileSync(path, "utf8");
  expect(parseResolvConf(during)).toMatchObject({
    nameservers: ["10.77.0.1", "192.0.2.1", "192.0.2.2"],
    search: ["weft.internal", "example.com"],
  });
  expect(during).toContain("options ndots:2 edns0");
  expect(host.upstreams()).toEqual(["192.0.2.1:53", "192.0.2.2:53"]);
  await host.use({ ...names, search: ["other.internal"] });
  expect(parseResolvConf(readFileSync(path, "utf8")).search).toEqual(["other.internal", "example.com"]);

  await host.restore();
  expect(readFileSync(path, "utf8")).toBe(BEFORE);
  expect(lstatSync(path).mode & 0o777).toBe(0o640);
});

test("CP-72 a run that was cut off is undone by the next one, whose way back leads to the file before both", async () => {
  writeFileSync(path, BEFORE);
  await open().use(names);
  const next = open();
  await next.use({ ...names, servers: [mustBe(parseIp("10.77.0.9"))] });
  expect(next.upstreams()).toEqual(["192.0.2.1:53", "192.0.2.2:53"]);

  restoreLeftovers({ backupPath, path });

  expect(readFileSync(path, "utf8")).toBe(BEFORE);
});

test("CP-72 what somebody else wrote since stays, and a link is a link again", async () => {
  const target = join(folder, "stub.conf");
  writeFileSync(target, BEFORE);
  symlinkSync("stub.conf", path);
  const host = open();
  await host.use(names);
  expect(readFileSync(target, "utf8")).toBe(BEFORE);
  await host.restore();
  expect(readlinkSync(path)).toBe("stub.conf");

  await host.use(names);
  rmSync(path);
  writeFileSync(path, "nameserver 203.0.113.1\n");
  await host.restore();
  expect(readFileSync(path, "utf8")).toBe("nameserver 203.0.113.1\n");
});

test("CP-73 a file that cannot be written is told about, and nothing is left behind", async () => {
  const nowhere = createHostResolver({ backupPath: join(folder, "missing", "backup.json"), path });
  writeFileSync(path, BEFORE);
  expect(await nowhere.use(names)).toMatchObject({ ok: false, error: { code: "failed" } });
  expect(readFileSync(path, "utf8")).toBe(BEFORE);
});

test("CP-74 every file is a legal one: what is not understood is kept, and no server is lost", () => {
  const odd =
    "\tnameserver\t192.0.2.9 # old\r\nnameserver fe80::1%eth0\ndomain a.example\nsearch b.example c.example\nsortlist 1.2.3.4\n; x";
  const read = parseResolvConf(odd);
  expect(read.nameservers).toEqual(["192.0.2.9"]);
  expect(read.search).toEqual(["b.example", "c.example"]);
  expect(read.kept).toEqual(["nameserver fe80::1%eth0", "sortlist 1.2.3.4", "; x"]);

  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 40 })), (lines) => {
      const before = parseResolvConf(lines.join("\n"));
      const after = parseResolvConf(withWeft(before, { servers: names.servers, search: names.search }));
      expect(after.nameservers.slice(1)).toEqual(before.nameservers.slice(0, 2));
      for (const line of before.kept) expect(after.kept).toContain(line);
    }),
  );
});
