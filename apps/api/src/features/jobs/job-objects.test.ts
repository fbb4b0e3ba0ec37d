import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { forbiddenCapability, workCapability, WORK_KINDS } from "@weft/protocol";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent, makeIdentity } from "../../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../../testing/simulated-agent.ts";

let clockMs = Date.now();
let server: TestApp;
let owner: RestClient;
let networkId: string;
let key: string;
let node: Node;
let other: Node;

type Node = { readonly agent: SimulatedAgent; readonly peerId: string };

const ALL = WORK_KINDS.map(workCapability);

beforeAll(async () => {
  // No two moments are the same, so that lists have one order.
  server = await createTestApp({ clock: { nowMs: () => (clockMs += 1) } });
  const made = await setUp(server.url);
  ({ owner } = made);
  networkId = made.network.id;
  ({ key } = await makeKey(owner, networkId));
});
beforeEach(async () => {
  node = await join();
  other = await join();
});
afterAll(() => server.dispose());

async function join(capabilities: readonly string[] = ALL): Promise<Node> {
  const agent = await connectAgent(server.url, { joinKey: key, identity: makeIdentity(), capabilities });
  return { agent, peerId: (await agent.next("welcome")).peerId };
}

const start = (kind: string, input: object = {}, on = node) =>
  owner.post(`/api/v1/peers/${on.peerId}/jobs/${kind}`, input);
const trace = () => start("trace", { targetPeerId: other.peerId });
const read = async (id: string): Promise<Json> => (await owner.get(`/api/v1/jobs/${id}`)).body;

function report(agent: SimulatedAgent, job: Json, value: unknown): void {
  const bytes = Buffer.from(JSON.stringify(value));
  agent.send({ kind: "jobPart", jobId: job.jobId, index: 0, content: bytes });
  const sha256 = createHash("sha256").update(bytes).digest();
  agent.send({
    kind: "jobResult",
    jobId: job.jobId,
    outcome: { kind: "report", parts: 1, bytes: bytes.length, sha256 },
  });
}

async function reaches(id: string, state: string): Promise<Json> {
  for (;;) {
    const job = await read(id);
    if (job.state === state) return job;
    if (job.endedAt !== null) throw new Error(`the job is ${job.state}: ${JSON.stringify(job.failure)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const hop = { hop: 1, address: "100.64.0.2", name: "b", rttMicroseconds: [210, null, 190] };
const TRACE = { kind: "trace", target: "100.64.0.2", outcome: "reached", reason: null, hops: [hop] };

describe("jobs of nodes as objects", () => {
  test("a job is shown while it runs and after it ended, with who asked and its times, and both ends are in the audit log", async () => {
    const begun = await trace();
    expect(begun).toMatchObject({
      status: 201,
      body: { state: "running", kind: "trace", result: null, endedAt: null },
    });
    const { id } = begun.body;
    expect(begun.headers.get("location")).toBe(`/api/v1/jobs/${id}`);
    const work = await node.agent.next("job");
    expect(work.work).toMatchObject({ kind: "trace", hopsMax: 16 });

    node.agent.send({ kind: "jobEvent", jobId: work.jobId, content: JSON.stringify({ ...TRACE, outcome: "tracing" }) });
    while ((await read(id)).result === null) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await read(id)).toMatchObject({ state: "running", result: { outcome: "tracing", hops: [hop] } });

    report(node.agent, work, TRACE);
    const done = await reaches(id, "done");
    expect(done).toMatchObject({
      peerId: node.peerId,
      targetPeerId: other.peerId,
      askedBy: { kind: "user", login: expect.any(String) },
      result: TRACE,
      failure: null,
      report: "none",
    });
    const events = (await owner.get(`/api/v1/audit-events?objectId=${node.peerId}`)).body.items;
    expect(events.map(({ action }: Json) => action)).toEqual(["jobs.traceEnded", "jobs.trace", "peers.enrol"]);
    expect(events[0].after).toEqual({ jobId: id, state: "done", outcome: "reached", hops: 1 });
  });

  test("what a node sends beside the form is not shown", async () => {
    const { id } = (await trace()).body;
    const work = await node.agent.next("job");
    node.agent.send({ kind: "jobEvent", jobId: work.jobId, content: "{nonsense" });
    node.agent.send({ kind: "jobEvent", jobId: work.jobId, content: JSON.stringify({ kind: "trace", hops: 7 }) });
    report(node.agent, work, { ...TRACE, hops: Array.from({ length: 31 }, () => hop) });

    await expect.poll(() => read(id)).toMatchObject({ state: "failed", failure: { code: "job_failed" }, result: null });
  });

  test("the list is filtered by kind, state and peer, sorted, and turned page by page", async () => {
    const ids: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      clockMs += 1_000;
      ids.push((await trace()).body.id);
    }
    for (const id of ids) await owner.post(`/api/v1/jobs/${id}/cancel`);
    clockMs += 1_000;
    const live = (await start("mtu-probe", { targetPeerId: other.peerId })).body.id;
    const list = async (query: string) => (await owner.get(`/api/v1/networks/${networkId}/jobs?${query}`)).body;
    const mine = `peerId=${node.peerId}`;

    expect((await list(`${mine}&kind=trace&sort=createdAt`)).items.map(({ id }: Json) => id)).toEqual(ids);
    expect((await list(`${mine}&state=running`)).items.map(({ id }: Json) => id)).toEqual([live]);
    const first = await list(`${mine}&limit=2&count=true`);
    expect(first).toMatchObject({ total: 4, items: [{ id: live }, { id: ids[2] }] });
    const second = await list(`${mine}&limit=2&cursor=${first.nextCursor}`);
    expect(second.items.map(({ id }: Json) => id)).toEqual([ids[1], ids[0]]);
    expect((await owner.get(`/api/v1/networks/${networkId}/jobs?kind=dance`)).status).toBe(400);
  });

  test("a cancelled job ends on its node, and cannot be cancelled twice", async () => {
    const { id } = (await trace()).body;
    const work = await node.agent.next("job");
    const cancelled = owner.post(`/api/v1/jobs/${id}/cancel`);
    const told = await node.agent.next("jobCancel");
    expect(told.jobId).toBe(work.jobId);
    node.agent.send({ kind: "jobResult", jobId: work.jobId, outcome: { kind: "failed", message: "stopped" } });

    expect((await cancelled).body).toMatchObject({ id, state: "cancelled", failure: { code: "job_cancelled" } });
    expect((await owner.post(`/api/v1/jobs/${id}/cancel`)).body).toMatchObject({ status: 409, code: "job_ended" });
    const events = (await owner.get(`/api/v1/audit-events?objectId=${node.peerId}`)).body.items;
    expect(events.map(({ action }: Json) => action)).toEqual(
      expect.arrayContaining(["jobs.cancel", "jobs.traceEnded", "jobs.trace"]),
    );
  });

  test("light jobs above what a node does at once wait their turn", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) ids.push((await trace()).body.id);
    expect(await read(ids[3] ?? "")).toMatchObject({ state: "queued", startedAt: null });

    report(node.agent, await node.agent.next("job"), TRACE);
    await reaches(ids[0] ?? "", "done");
    const fourth = await reaches(ids[3] ?? "", "running");
    expect(fourth.startedAt).not.toBeNull();
  });

  test("a node whose stream ends leaves its jobs failed, with the reason", async () => {
    const { id } = (await trace()).body;
    await node.agent.next("job");
    node.agent.cut();

    await expect.poll(() => read(id)).toMatchObject({ state: "failed", failure: { code: "peer_offline" } });
  });

  test("AP-71 a job that the host forbids is refused, and the peer shows which", async () => {
    const strict = await join([
      ...ALL.filter((name) => name !== workCapability("trace")),
      forbiddenCapability("trace"),
    ]);
    const answer = await start("trace", { targetPeerId: other.peerId }, strict);

    expect(answer.body).toMatchObject({ status: 409, code: "job_forbidden" });
    expect((await owner.get(`/api/v1/peers/${strict.peerId}`)).body.forbiddenJobs).toEqual(["trace"]);
  });

  test("AP-72 one heavy job at a time keeps each of its nodes, a light one goes beside it", async () => {
    const first = await start("profile", { seconds: 1 });
    expect(first.status).toBe(201);
    for (const [kind, input, on] of [
      ["debug-bundle", {}, node],
      ["restart", {}, node],
    ] as const) {
      expect((await start(kind, input, on)).body).toMatchObject({ status: 409, code: "job_busy" });
    }
    expect((await trace()).status).toBe(201);

    const work = await node.agent.next("job");
    report(node.agent, work, { format: "folded", samples: 1, threads: ["main"], data: "main 1\n" });
    expect(await reaches(first.body.id, "done")).toMatchObject({ result: null, report: "kept" });
    const fetched = await owner.get(`/api/v1/jobs/${first.body.id}/report`);
    expect(fetched.body).toMatchObject({ format: "folded", data: "main 1\n" });
  });

  test("what was asked must make sense", async () => {
    expect((await start("trace", { targetPeerId: node.peerId })).body.code).toBe("same_peer");
    expect((await start("trace", {})).status).toBe(400);
    expect((await start("trace", { targetPeerId: other.peerId, address: "192.0.2.1" })).status).toBe(400);
    expect((await start("trace", { address: "somewhere" })).status).toBe(400);
    expect((await start("throughput", { targetPeerId: other.peerId, seconds: 31 })).status).toBe(400);
    expect((await start("throughput", { targetPeerId: other.peerId, port: 22 })).status).toBe(400);
  });

  test("a server that stops says that its jobs ended, and one that died leaves them to the next", async () => {
    const [calm, lost] = [(await trace()).body.id, (await trace()).body.id];
    const again = await server.restart();
    server = again;
    owner = createRestClient(again.url, { cookie: owner.cookie() ?? "" });

    expect(await read(calm)).toMatchObject({ state: "failed", failure: { code: "stopping" } });
    const { sql, dispose } = server.database.connect({ connectionsMax: 1 });
    await sql`update jobs set state = 'running', ended_at = null, failure_code = null where id = ${lost}`;
    await dispose();
    clockMs += 16_000;
    await expect
      .poll(() => read(lost), { timeout: 15_000 })
      .toMatchObject({ state: "failed", failure: { code: "job_left" } });
    const [newest] = (await owner.get(`/api/v1/audit-events?objectId=${node.peerId}`)).body.items;
    expect(newest).toMatchObject({ action: "jobs.traceEnded", actor: { kind: "server" }, after: { jobId: lost } });
  });
});
