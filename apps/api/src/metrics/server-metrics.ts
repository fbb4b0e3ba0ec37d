import { metricFamily, metricSample } from "@weft/protocol";
import type { LiveHub } from "../live/live-hub.ts";
import type { FeatureDeps } from "../registry/feature-deps.ts";

export type ServerMetricsDeps = {
  readonly deps: Pick<FeatureDeps, "clock" | "database" | "server">;
  readonly hub: Pick<LiveHub, "flows" | "networks" | "presence">;
  readonly meters: readonly { readonly text: () => readonly string[] }[];
  readonly lagMs: () => number;
  /** Deliveries of webhooks by state. */
  readonly deliveries: () => Promise<Readonly<Record<string, number>>>;
};

/** What the control plane tells a Prometheus. A database that is gone is a value, not a failure. */
export async function serverMetrics(from: ServerMetricsDeps): Promise<string> {
  const { clock, database, server } = from.deps;
  const nowMs = clock.nowMs();
  const isAlive = await database.isAlive();
  const deliveries = isAlive ? await from.deliveries().catch(() => NOTHING) : NOTHING;
  const usage = process.memoryUsage();
  const processor = process.cpuUsage();
  return [
    ...metricFamily("weft_server_info", { help: "Always 1; labels name the release.", type: "gauge" }, [
      metricSample({ version: server.version, database: server.databaseKind }, 1),
    ]),
    ...one("weft_server_uptime_seconds", "Age of the server.", (nowMs - server.startedAt.getTime()) / 1_000),
    ...one("weft_server_database_up", "Whether the database answers.", isAlive ? 1 : 0),
    ...one("weft_server_event_loop_lag_seconds", "How late the event loop is.", from.lagMs() / 1_000),
    ...one("weft_server_resident_bytes", "Memory of the server process.", usage.rss),
    ...metricFamily("weft_server_cpu_seconds_total", { help: "Processor time by kind.", type: "counter" }, [
      metricSample({ kind: "user" }, processor.user / 1e6),
      metricSample({ kind: "system" }, processor.system / 1e6),
    ]),
    ...networkFamilies(from.hub, nowMs),
    ...flowFamily(from.hub),
    ...metricFamily(
      "weft_webhook_deliveries",
      { help: "Deliveries in the log by state.", type: "gauge" },
      Object.entries(deliveries).map(([state, count]) => metricSample({ state }, count)),
    ),
    ...from.meters.flatMap((meter) => meter.text()),
    "",
  ].join("\n");
}

function flowFamily({ flows }: Pick<LiveHub, "flows">): readonly string[] {
  const { stored, lostOnNodes, lostHere } = flows.counts();
  return metricFamily(
    "weft_flow_records_total",
    { help: "Flow records that were written, and those lost where flows came too fast.", type: "counter" },
    [
      metricSample({ outcome: "stored" }, stored),
      metricSample({ outcome: "lost_on_nodes" }, lostOnNodes),
      metricSample({ outcome: "lost_here" }, lostHere),
    ],
  );
}

function networkFamilies(
  { networks, presence }: Pick<LiveHub, "networks" | "presence">,
  nowMs: number,
): readonly string[] {
  const hubs = [...networks.values()].map((hub) => {
    const counts = { online: 0, offline: 0, unknown: 0 };
    for (const peerId of hub.mirror.peers().keys()) counts[presence.stateOf(peerId, nowMs)] += 1;
    return { hub, counts, labels: { network: hub.mirror.network().name, network_id: hub.id } };
  });
  return [
    ...metricFamily(
      "weft_peers",
      { help: "Peers by network and presence.", type: "gauge" },
      hubs.flatMap(({ labels, counts }) =>
        Object.entries(counts).map(([presenceState, count]) =>
          metricSample({ ...labels, presence: presenceState }, count),
        ),
      ),
    ),
    ...metricFamily(
      "weft_agent_streams",
      { help: "Open agent streams by network.", type: "gauge" },
      hubs.map(({ hub, labels }) => metricSample(labels, hub.streams.size)),
    ),
    ...metricFamily(
      "weft_map_sequence",
      { help: "Version of a network's maps.", type: "counter" },
      hubs.map(({ hub, labels }) => metricSample(labels, Number(hub.mirror.network().sequence))),
    ),
  ];
}

const NOTHING: Readonly<Record<string, number>> = {};

function one(name: string, help: string, value: number): readonly string[] {
  return metricFamily(name, { help, type: "gauge" }, [metricSample({}, value)]);
}
