/**
 * One end of a tunnel by our data plane, without a control plane: for tests against other implementations.
 *
 * Usage: node weft-endpoint.js, with one JSON line of settings on standard input. Prints {"event":"ready"}; answers each
 * further input line "state" with one of `EndpointState`. Ends on SIGTERM or when the input closes.
 */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

import { formatConcealProblem, PLAIN_CONCEAL, Secret, setConcealKeys } from "@weft/protocol";

import { repositoryPath } from "../harness/repository.ts";
import {
  EndpointSettingsSchema,
  type EndpointFault,
  type EndpointSettings,
  type EndpointState,
} from "./endpoint-settings.ts";

/** What we use of the built data plane; e2e starts what was built and imports no source of another package. */
type Dataplane = { readonly createTunnel: (options: object) => CreateResult };
type CreateResult = { readonly ok: true; readonly value: Tunnel } | { readonly ok: false; readonly error: unknown };
type EndpointEvent = { readonly kind: string; readonly fault?: EndpointFault };
type Step = { readonly ok: boolean; readonly error?: unknown };
type Table = { readonly columns: readonly string[]; readonly rows: number; readonly values: BigUint64Array };
type Tunnel = {
  readonly replacePeers: (peers: readonly object[]) => Step;
  readonly replaceFilter: (rules: readonly object[]) => Step;
  readonly peers: () => readonly { readonly lastHandshakeAtMs: number | null }[];
  readonly counters: () => {
    readonly peers: Table;
    readonly totals: Table;
    readonly shards: Table & { readonly stageNames: readonly string[] };
    readonly handshakes: Readonly<Record<string, number>>;
  };
  readonly close: () => void;
};

/** One a second and kind is reported: enough for hours of trouble. */
const FAULTS_MAX = 10_000;
const NOT_COUNTERS = new Set(["peer", "lastReceivedAgeMs", "sessionAgeMs"]);
const ALLOW_ALL = {
  id: 1,
  action: "allow",
  direction: "both",
  protocol: null,
  source: null,
  destination: null,
  ports: null,
};

const faults: EndpointFault[] = [];
const input = createInterface({ input: process.stdin });
const [firstLine] = await once(input, "line");
const settings = EndpointSettingsSchema.parse(JSON.parse(String(firstLine)));
const loaded: unknown = await import(pathToFileURL(repositoryPath("packages", "dataplane", "dist", "index.js")).href);
if (!isDataplane(loaded)) throw new Error("the built data plane exports no createTunnel");
const tunnel = open(loaded, settings);
process.once("SIGTERM", end);
input.on("close", end);
input.on("line", (line) => {
  if (line !== "state") return;
  process.stdout.write(`${JSON.stringify(stateOf(tunnel))}\n`);
});
process.stdout.write(`${JSON.stringify({ event: "ready" })}\n`);

function open({ createTunnel }: Dataplane, wanted: EndpointSettings): Tunnel {
  const created = createTunnel({
    interfaceName: wanted.interfaceName,
    mtu: wanted.mtu,
    listenPort: wanted.listenPort,
    privateKey: new Secret(Uint8Array.from(Buffer.from(wanted.privateKey, "base64"))),
    addresses: wanted.addresses,
    routes: wanted.allowedIps,
    ...(wanted.rekeyAfterSeconds === undefined ? {} : { engine: { rekeyAfterSeconds: wanted.rekeyAfterSeconds } }),
    conceal: disguiseOf(wanted),
    onEvent: (event: EndpointEvent) => {
      const fault = faultOf(event);
      if (fault && faults.length < FAULTS_MAX) faults.push(fault);
      process.stderr.write(`${JSON.stringify(event)}\n`);
    },
  });
  if (!created.ok) throw new Error(`no tunnel: ${JSON.stringify(created.error)}`);
  const { value } = created;
  expectOk("filter", value.replaceFilter(filterOf(wanted.filterRules)));
  expectOk(
    "peers",
    value.replacePeers([
      {
        publicKey: wanted.peerPublicKey,
        allowedIps: wanted.allowedIps,
        endpoints: wanted.peerEndpoint === undefined ? [] : [wanted.peerEndpoint],
        keepaliveSeconds: 0,
      },
      ...wanted.extraPeers.map(({ publicKey, allowedIp }) => ({
        publicKey,
        allowedIps: [allowedIp],
        endpoints: [],
        keepaliveSeconds: 0,
      })),
    ]),
  );
  return value;
}

function disguiseOf({ disguise }: EndpointSettings): object {
  const set = setConcealKeys(PLAIN_CONCEAL, Object.entries(disguise));
  if (!set.ok) throw new Error(set.error.map(formatConcealProblem).join("; "));
  return set.value;
}

function faultOf({ kind, fault }: EndpointEvent): EndpointFault | undefined {
  return kind === "engine-failed" ? { operation: "engine", severity: "fatal", errno: 0 } : fault;
}

function stateOf(open: Tunnel): EndpointState {
  const { peers, totals, shards, handshakes } = open.counters();
  return {
    event: "state",
    newestHandshakeAtMs: Math.max(0, ...open.peers().map((peer) => peer.lastHandshakeAtMs ?? 0)),
    totals: sums(totals),
    stages: stageTimes(shards),
    peers: Object.fromEntries(Object.entries(sums(peers)).filter(([name]) => !NOT_COUNTERS.has(name))),
    handshakes,
    faults,
  };
}

/** Rules as a large policy has them: ranges of addresses and ports that other hosts have, and what allows at the end. */
function filterOf(rules: number): object[] {
  const others = Array.from({ length: rules - 1 }, (_, at) => ({
    ...ALLOW_ALL,
    id: at + 2,
    action: at % 2 === 0 ? "deny" : "allow",
    protocol: at % 3 === 0 ? 17 : 6,
    source: [`172.${String(16 + (at >> 12))}.${String((at >> 4) & 255)}.${String((at & 15) << 4)}/28`],
    ports: [{ low: 1_000 + (at % 60_000), high: 1_010 + (at % 60_000) }],
  }));
  return [...others, ALLOW_ALL];
}

function stageTimes({ columns, rows, values, stageNames }: Table & { readonly stageNames: readonly string[] }) {
  const cell = (row: number, name: string): number =>
    Number(values[row * columns.length + columns.indexOf(name)] ?? 0n);
  const times: Record<string, number> = {};
  for (let row = 0; row < rows; row += 1) {
    const stage = stageNames[cell(row, "stage")] ?? "unknown";
    times[stage] = (times[stage] ?? 0) + cell(row, "nanoseconds");
  }
  return times;
}

function sums({ columns, rows, values }: Table): Record<string, number> {
  const column = (index: number): number => {
    let sum = 0;
    for (let row = 0; row < rows; row += 1) sum += Number(values[row * columns.length + index] ?? 0n);
    return sum;
  };
  return Object.fromEntries(columns.map((name, index) => [name, column(index)]));
}

function expectOk(what: string, step: Step): void {
  if (!step.ok) throw new Error(`${what} refused: ${JSON.stringify(step.error)}`);
}

function end(): void {
  tunnel.close();
  process.exit(0);
}

function isDataplane(value: unknown): value is Dataplane {
  return (
    typeof value === "object" && value !== null && "createTunnel" in value && typeof value.createTunnel === "function"
  );
}
