import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

import { adminCli } from "../harness/admin-cli.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { runCommand } from "../harness/run-command.ts";
import { findSchemathesis } from "../harness/schemathesis.ts";
import { createOwner, startServer } from "../harness/server.ts";

/** Left out: they would send requests to hosts that chance names, or end the session that asks. */
const LEFT_OUT = "^/(webhooks|identity-providers|sessions|account|users/current)";

/** A missing If-Match is 428 and too long is 413 or 431, as RFC 6585 and 9110 have it; what fits its schema may still be refused by the state. */
const SETTINGS = `[checks.missing_required_header]
expected-statuses = ["428"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "409", "412", "413", "415", "422", "428", "429", "431"]

[checks.positive_data_acceptance]
enabled = false
`;

test("API-3 API-5 what the server answers to generated requests is what its OpenAPI document says", async ({
  skip,
}) => {
  const found = await findSchemathesis();
  if ("reason" in found) skip(found.reason);
  if (!("program" in found)) return;
  const server = await startServer({ env: { WEFT_RATE_LIMIT: "100000/100000" } });
  try {
    const { client } = await createOwner(server, "correct horse battery staple");
    const cli = await adminCli(server.url, client);
    await writeFile(join(cli.folder, "schemathesis.toml"), SETTINGS);
    const words = [
      ["run", `${server.url}/api/v1/openapi.json`, "--url", `${server.url}/api/v1`],
      ["--header", `Authorization: Bearer ${cli.token}`, "--exclude-path-regex", LEFT_OUT],
      ["--phases", "examples,fuzzing", "--max-examples", "5", "--seed", "7", "--generation-database", "none"],
      ["--no-shrink", "--workers", "2", "--no-color", "--request-timeout", "10", "--warnings", "off"],
    ].flat();
    const { code, stdout, stderr } = await runCommand(found.program, words, { cwd: cli.folder, timeoutMs: 90_000 });

    // Long generated values would hide the reasons.
    const told = (stdout + stderr).split("\n").map((line) => line.slice(0, 300));
    expect(code, told.slice(-150).join("\n")).toBe(0);
    expect(stdout).toMatch(/Test cases:\n {2}\d{3,} generated/);
  } finally {
    await server.stop();
    await cleanUpNow();
  }
}, 300_000);
