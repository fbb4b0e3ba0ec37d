import { z } from "zod";

import { createOwner, createJoinKey, startServer, type OwnedNetwork } from "../../harness/server.ts";
import { cpuNanoseconds, descendantPids, proportionalBytes, residentBytes } from "../../harness/process-usage.ts";

/** A control plane with its embedded database, watched from outside. */
export type MeasuredServer = {
  readonly url: () => string;
  readonly owner: OwnedNetwork;
  /** CPU milliseconds since it started: of the server itself, and of its database. */
  readonly cpuMs: () => { readonly server: number; readonly database: number };
  /** Resident megabytes (10^6 bytes): of the server itself, and the database's share of what its processes hold. */
  readonly memoryMb: () => { readonly server: number; readonly database: number };
  /** Statements that changed the database since the server started. */
  readonly writes: () => Promise<number>;
  /** Stops the server and starts it again on the same data and port. */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Starts the built server as an operator would, but for the limit of requests per caller. */
export async function startMeasuredServer(): Promise<MeasuredServer> {
  let metricsPort = 0;
  let server = await startServer({
    env: { WEFT_RATE_LIMIT: "100000/100000", WEFT_METRICS_LISTEN: "127.0.0.1:0" },
    onLine(line) {
      const said = MetricsLine.safeParse(parseJson(line));
      if (said.success) metricsPort = said.data.port;
    },
  });
  const first = server;
  const owner = await createOwner(server, "a long enough password");
  return {
    url: () => server.url,
    owner,
    cpuMs: () => ({
      server: cpuNanoseconds(server.program.pid) / 1e6,
      database: sumOf(descendantPids(server.program.pid), cpuNanoseconds) / 1e6,
    }),
    memoryMb: () => ({
      server: residentBytes(server.program.pid) / 1e6,
      database: sumOf(descendantPids(server.program.pid), proportionalBytes) / 1e6,
    }),
    async writes() {
      const text = await (await fetch(`http://127.0.0.1:${String(metricsPort)}/metrics`)).text();
      const found = /^weft_server_statements_total\{kind="write"\} (\d+)/m.exec(text)?.[1];
      if (found === undefined) throw new Error("the server does not count its statements");
      return Number(found);
    },
    async restart() {
      await server.program.stop();
      server = await server.restart();
    },
    async stop() {
      await server.program.stop();
      // The first one knows the folder and removes it.
      await first.stop();
    },
  };
}

/** Makes a network without rules, with room for so many, and a key that lets anybody in. */
export async function createNetwork(
  { owner }: MeasuredServer,
  wish: { readonly name: string; readonly ipv4Range: string },
): Promise<MeasuredNetwork> {
  const { id } = Id.parse(await owner.client.post("/networks", wish));
  const group = async (name: string) => Id.parse(await owner.client.post(`/networks/${id}/groups`, { name })).id;
  return {
    id,
    group,
    joinKey: async (groupIds = []) =>
      groupIds.length === 0
        ? createJoinKey(owner.client, id)
        : Key.parse(await owner.client.post(`/networks/${id}/enrolment-keys`, { usesMax: null, groupIds })).key,
    async allow(groupId, more = {}) {
      const side = groupId === undefined ? { kind: "all" } : { kind: "group", id: groupId };
      const rule = { source: side, destination: side, ...more };
      const { id: ruleId } = Id.parse(await owner.client.post(`/networks/${id}/rules`, rule));
      return async () => owner.client.remove(`/rules/${ruleId}`);
    },
  };
}

export type MeasuredNetwork = {
  readonly id: string;
  readonly group: (name: string) => Promise<string>;
  readonly joinKey: (groupIds?: readonly string[]) => Promise<string>;
  /** Lets the members of a group, or all, talk to each other; resolves with what takes it back. */
  readonly allow: (groupId?: string, more?: object) => Promise<() => Promise<void>>;
};

function sumOf(pids: readonly number[], read: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + read(pid), 0);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const MetricsLine = z.object({ event: z.literal("metrics"), port: z.number() });
const Id = z.object({ id: z.string() });
const Key = z.object({ key: z.string() });
