import { metricFamily as family, metricSample as sample } from "@weft/protocol";

import type { StatusView } from "./status-view.ts";

/** The status in the text format that Prometheus reads. */
export function metricsText(view: StatusView): string {
  const { engine, peers, offloads } = view;
  return [
    ...family("weft_up", { help: "Whether the tunnel interface exists.", type: "gauge" }, [
      sample({}, view.interface === null ? 0 : 1),
    ]),
    ...family("weft_uptime_seconds", { help: "Age of the agent.", type: "gauge" }, [sample({}, view.uptimeMs / 1000)]),
    ...family("weft_server_connected", { help: "Whether the control plane is connected.", type: "gauge" }, [
      sample({}, view.server.state === "connected" ? 1 : 0),
    ]),
    ...family("weft_engine_restarts_total", { help: "Engines started again after a fault.", type: "counter" }, [
      sample({}, engine.restarts),
    ]),
    ...family(
      "weft_engine_drops_total",
      { help: "Dropped packets by reason.", type: "counter" },
      Object.entries(engine.drops).map(([reason, count]) => sample({ reason }, count)),
    ),
    ...Object.entries(engine.totals)
      .filter(([name]) => !name.startsWith("drop"))
      .flatMap(([name, count]) =>
        family(`weft_engine_${snake(name)}_total`, { help: `Engine count ${name}.`, type: "counter" }, [
          sample({}, count),
        ]),
      ),
    ...STAGE_COLUMNS.flatMap(([column, help]) =>
      family(
        `weft_engine_stage_${column}_total`,
        { help, type: "counter" },
        engine.stages.map((stage) => sample({ shard: String(stage.shard), stage: stage.stage }, stage[column])),
      ),
    ),
    ...family(
      "weft_offload",
      { help: "1 for the state each kernel feature is in.", type: "gauge" },
      offloads.map(({ name, state, reason }) => sample({ name, state, reason: reason ?? "" }, 1)),
    ),
    ...family(
      "weft_peer_session_up",
      { help: "Whether a peer has a session.", type: "gauge" },
      peers.map(({ name, session }) => sample({ peer: name }, session === "up" ? 1 : 0)),
    ),
    ...LANE_COLUMNS.flatMap(([column, name, help]) =>
      family(
        name,
        { help, type: "gauge" },
        peers.map((peer) => sample({ peer: peer.name }, peer[column])),
      ),
    ),
    ...PEER_COLUMNS.flatMap(([column, name, help]) =>
      family(
        name,
        { help, type: "counter" },
        peers.map((peer) => sample({ peer: peer.name }, peer[column])),
      ),
    ),
    "",
  ].join("\n");
}

/** `udpSendCalls` → `udp_send_calls`. */
function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const STAGE_COLUMNS = [
  ["batches", "Batches per stage."],
  ["packets", "Packets per stage."],
  ["bytes", "Bytes per stage."],
  ["nanoseconds", "Time per stage."],
] as const;
const LANE_COLUMNS = [
  ["lanes", "weft_peer_lanes", "UDP source ports agreed on with a peer."],
  ["lanesInUse", "weft_peer_lanes_in_use", "UDP source ports that data to a peer goes by."],
] as const;
const PEER_COLUMNS = [
  ["rxBytes", "weft_peer_receive_bytes_total", "Bytes received from a peer."],
  ["txBytes", "weft_peer_transmit_bytes_total", "Bytes sent to a peer."],
] as const;
