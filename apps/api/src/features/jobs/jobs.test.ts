import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent, makeIdentity } from "../../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let key: string;
let agent: SimulatedAgent;
let peerId: string;

const CAPABILITIES = ["job-profile", "job-debugBundle"];

beforeAll(async () => {
  server = await createTestApp();
  const made = await setUp(server.url);
  ({ owner } = made);
  ({ key } = await makeKey(owner, made.network.id));
});
beforeEach(async () => {
  const identity = makeIdentity();
  const joining = await connectAgent(server.url, { joinKey: key, identity, capabilities: CAPABILITIES });
  agent = joining;
  peerId = (await joining.next("welcome")).peerId;
});
afterAll(() => server.dispose());

const ask = (path: string, input: object = {}) => owner.post(`/api/v1/peers/${peerId}/${path}`, input);

/** Answers a job as an agent does: parts, then the outcome that names them. */
async function answer(
  value: unknown,
  parts = 3,
  change: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes,
): Promise<Json> {
  const job = await agent.next("job");
  const bytes = Buffer.from(JSON.stringify(value));
  const size = Math.ceil(bytes.length / parts);
  for (let index = 0; index < parts; index += 1) {
    const content = change(bytes.subarray(index * size, (index + 1) * size));
    agent.send({ kind: "jobPart", jobId: job.jobId, index, content });
  }
  const sha256 = createHash("sha256").update(bytes).digest();
  agent.send({ kind: "jobResult", jobId: job.jobId, outcome: { kind: "report", parts, bytes: bytes.length, sha256 } });
  return job;
}

const PROFILE = { format: "folded", samples: 2, threads: ["main"], data: "main;work 2\n", method: "perf", lost: 0 };

describe("AP-70 AP-72 F-G2 F-E11 work that a node does for the console", () => {
  test("a profile comes back in parts as one report, and its begin and end are in the audit log", async () => {
    const asked = ask("profile", { seconds: 2, frequencyHz: 50 });
    const job = await answer(PROFILE);
    const result = await asked;

    expect(job.work).toEqual({ kind: "profile", seconds: 2, frequencyHz: 50, format: "folded" });
    expect(job.timeLimitMs).toBe(32_000);
    expect(result.status).toBe(200);
    expect(result.body).toEqual(PROFILE);
    const events = (await owner.get(`/api/v1/audit-events?objectId=${peerId}`)).body.items;
    expect(events.map(({ action }: Json) => action)).toEqual(["jobs.profileEnded", "jobs.profile", "peers.enrol"]);
    expect(JSON.stringify(events)).not.toContain("main;work");
  });

  test("a debug bundle is asked for with or without addresses", async () => {
    const asked = ask("debug-bundle", { addresses: "redact" });
    const job = await answer({ contents: { host: "kernel" }, host: { kernel: "6.1" } }, 1);

    expect(job.work).toEqual({ kind: "debugBundle", addresses: "redact" });
    expect((await asked).body).toEqual({ contents: { host: "kernel" }, host: { kernel: "6.1" } });
  });

  test("a second heavy job on the same node is refused while the first runs, a ping is not", async () => {
    const first = ask("profile");
    const job = await agent.next("job");

    expect((await ask("debug-bundle")).body).toMatchObject({ status: 409, code: "job_busy" });

    agent.send({ kind: "jobResult", jobId: job.jobId, outcome: { kind: "failed", message: "no perf here" } });
    expect((await first).body).toMatchObject({ status: 502, code: "job_failed" });
  });

  test("AP-71 a node that announces no such work is not asked", async () => {
    const other = await connectAgent(server.url, { joinKey: key, identity: makeIdentity() });
    const id = (await other.next("welcome")).peerId;

    expect((await owner.post(`/api/v1/peers/${id}/profile`)).body).toMatchObject({
      status: 409,
      code: "job_unsupported",
    });
    other.leave();
  });

  test.each([
    { name: "a part that was changed", run: () => answer(PROFILE, 3, (bytes) => bytes.map((byte) => byte ^ 1)) },
    { name: "parts that are missing", run: () => answer(PROFILE, 3, (bytes) => bytes.subarray(1)) },
    { name: "something else than a profile", run: () => answer({ hello: "there" }) },
    { name: "no object", run: () => answer(7, 1) },
  ])("$name is a failure of the job, and nothing of it comes through", async ({ run }) => {
    const asked = ask("profile");
    await run();
    const { status, body } = await asked;

    expect({ status, code: body.code }).toEqual({ status: 502, code: "job_failed" });
  });

  test("a node whose stream ends in the middle is told as offline", async () => {
    const asked = ask("profile", { seconds: 120 });
    await agent.next("job");
    agent.cut();

    expect((await asked).body).toMatchObject({ status: 409, code: "peer_offline" });
  });

  test("another node cannot answer for the one that was asked", async () => {
    const asked = ask("debug-bundle");
    const job = await agent.next("job");
    const intruder = await connectAgent(server.url, { joinKey: key, identity: makeIdentity() });
    await intruder.next("welcome");
    intruder.send({ kind: "jobResult", jobId: job.jobId, outcome: { kind: "failed", message: "intruder" } });
    const reply = { contents: {} };
    const bytes = Buffer.from(JSON.stringify(reply));
    intruder.send({ kind: "jobPart", jobId: job.jobId, index: 0, content: bytes });
    intruder.leave();
    agent.send({ kind: "jobPart", jobId: job.jobId, index: 0, content: bytes });
    const sha256 = createHash("sha256").update(bytes).digest();
    agent.send({
      kind: "jobResult",
      jobId: job.jobId,
      outcome: { kind: "report", parts: 1, bytes: bytes.length, sha256 },
    });

    expect((await asked).body).toEqual(reply);
  });
});
