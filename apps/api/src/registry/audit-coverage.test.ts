import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operations } from "./operations.ts";

/** Changes nothing, although it is a POST: a secret does not belong into a URL. */
const CHANGE_NOTHING = [
  "invites.look",
  "identityProviders.begin",
  "policy.validate",
  "policy.test",
  "configuration.plan",
];

/** What their events are called instead. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  "groups.addPeer": "peers.regroup",
  "groups.removePeer": "peers.regroup",
  "identityProviders.finish": "sessions.login",
  "identityProviders.confirm": "sessions.login",
  // One function judges, and puts the verdict behind the noun.
  "peers.approve": "peers.${verdict}",
  "peers.reject": "peers.${verdict}",
  "peers.disable": "peers.${verdict}",
  "peers.enable": "peers.${verdict}",
};

/**
 * Looks for the action's name in the code of the features: a mutation that forgets its audit event has no such text.
 * That events are right is the matter of each feature's own tests.
 */
test("F-E1 every operation that changes something names its audit action", async () => {
  const root = join(import.meta.dirname, "../features");
  const files = (await readdir(root, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const shared = (await readdir(import.meta.dirname)).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const texts = await Promise.all([
    ...files.map((name) => readFile(join(root, name), "utf8")),
    ...shared.map((name) => readFile(join(import.meta.dirname, name), "utf8")),
  ]);
  const code = texts.join("\n");

  const silent = operations
    .filter(({ contract, name }) => contract.kind === "mutation" && !CHANGE_NOTHING.includes(name))
    .filter(({ name }) => !['"', "`"].some((quote) => code.includes(quote + (OTHER_NAMES[name] ?? name) + quote)))
    .map(({ name }) => name);

  expect(silent).toEqual([]);
});
