import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";

import { repositoryPath } from "./repository.ts";

/** What only a secret that is in use somewhere looks like. Public keys and addresses of documentation are none. */
const SECRETS: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: "a private key in PEM", pattern: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s+[A-Za-z0-9+/]{40}/ },
  { what: "a private key of a WireGuard configuration", pattern: /PrivateKey\s*=\s*[A-Za-z0-9+/]{43}=/ },
  {
    what: "a private key of an agent's state or of a run's results",
    pattern: /"(?:identitySeed|wireguardKey|privateKey|presharedKey)"\s*:\s*"[A-Za-z0-9+/]{43}="/,
  },
  { what: "a token of a control plane", pattern: /\bweft_[a-z]{3}_[A-Za-z0-9_-]{32,}/ },
  { what: "a token of another service", pattern: /\b(?:ghp_[A-Za-z0-9]{36}|npm_[A-Za-z0-9]{36}|AKIA[A-Z0-9]{16})\b/ },
];

test("P-20 no tracked file, of results and fixtures neither, holds a private key or a token", ({ skip }) => {
  const listed = spawnSync("git", ["ls-files", "-z"], { cwd: repositoryPath("."), encoding: "utf8" });
  if (listed.status !== 0) skip("this is no clone of the repository, or git is missing");
  const paths = listed.stdout.split("\0").filter((path) => path !== "");
  expect(paths.length).toBeGreaterThan(100);

  const found = paths.flatMap((path) => {
    const place = repositoryPath(path);
    const stat = statSync(place, { throwIfNoEntry: false });
    if (!stat?.isFile() || stat.size > BYTES_MAX) return [];
    return secretsIn(readFileSync(place, "latin1")).map((what) => `${path}: ${what}`);
  });

  expect(found).toEqual([]);
});

// Put together here, or this file would be the first to be found.
test.each([
  ["-----BEGIN", "PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"].join(" "),
  ["[Interface]\nPrivateKey", "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="].join(" = "),
  ['{"privateKey"', '"yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="}'].join(": "),
  ["weft", "enr", "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"].join("_"),
  ["ghp", "abcdefghijklmnopqrstuvwxyz0123456789"].join("_"),
])("the scan finds a secret: %#", (text) => {
  expect(secretsIn(text)).toHaveLength(1);
});

function secretsIn(text: string): string[] {
  return SECRETS.filter(({ pattern }) => pattern.test(text)).map(({ what }) => what);
}

const BYTES_MAX = 4 * 1024 * 1024;
