/**
 * UDP flows of constant rate side by side, each from a port of its own, there and back.
 *
 * Usage: node paced-flows.js serve ADDRESS PORT
 *        node paced-flows.js send ADDRESS PORT FLOWS SECONDS
 * The server returns each datagram as it came. The client sends one datagram per flow every 20 ms and prints one JSON
 * line {"sent", "returned", "reordered", "longestGapMs", "silentFlows"}: the gap is the longest one between two answers of
 * one flow, and a flow is silent at the end when its last answer is older than 500 ms.
 */
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";

const TICK_MS = 20;
/**
 * The first ones go alone: the kernel learns which queue of a TUN device a flow belongs to from what is written there, and
 * what was under way in another queue by then may be overtaken (tun_flow_update).
 */
const ALONE = 2;
const LINGER_MS = 300;
const SILENT_AFTER_MS = 500;
const [mode, address, portText, flowsText, secondsText] = process.argv.slice(2);
const port = Number.parseInt(portText ?? "", 10);
const flowCount = Number.parseInt(flowsText ?? "", 10);
const seconds = Number.parseFloat(secondsText ?? "");

if (address !== undefined && Number.isInteger(port) && mode === "serve") serve(address, port);
else if (address !== undefined && Number.isInteger(port) && mode === "send" && flowCount > 0 && seconds > 0) {
  await send(address);
} else {
  process.stderr.write("usage: paced-flows serve ADDRESS PORT | send ADDRESS PORT FLOWS SECONDS\n");
  process.exitCode = 2;
}

type Flow = {
  readonly socket: Socket;
  sent: number;
  returned: number;
  newest: number;
  reordered: number;
  gapMs: number;
  lastMs: number;
};

function serve(host: string, listenPort: number): void {
  const socket = createSocket({ type: isIPv6(host) ? "udp6" : "udp4", recvBufferSize: 4 << 20 });
  socket.on("message", (message, from) => socket.send(message, from.port, from.address));
  socket.bind(listenPort, host, () => process.stdout.write("ready\n"));
}

async function send(host: string): Promise<void> {
  const flows = Array.from({ length: flowCount }, () => startFlow(host));
  const startedMs = performance.now();
  const end = startedMs + seconds * 1_000;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (performance.now() >= end) {
        clearInterval(timer);
        setTimeout(resolve, LINGER_MS);
        return;
      }
      for (const flow of flows) if (flow.returned >= ALONE || flow.sent === flow.returned) sendNext(flow, host);
    }, TICK_MS);
  });
  const endedMs = performance.now();
  for (const { socket } of flows) socket.close();
  const sum = (of: (flow: Flow) => number): number => flows.reduce((total, flow) => total + of(flow), 0);
  const silentFlows = flows.filter(({ lastMs }) => endedMs - lastMs > SILENT_AFTER_MS + LINGER_MS).length;
  const longestGapMs = Math.round(Math.max(...flows.map(({ gapMs }) => gapMs)));
  const outcome = {
    sent: sum((flow) => flow.sent),
    returned: sum((flow) => flow.returned),
    reordered: sum((flow) => flow.reordered),
    longestGapMs,
    silentFlows,
  };
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

function startFlow(host: string): Flow {
  const socket = createSocket({ type: isIPv6(host) ? "udp6" : "udp4", recvBufferSize: 1 << 20 });
  const flow = { socket, sent: 0, returned: 0, newest: -1, reordered: 0, gapMs: 0, lastMs: performance.now() };
  socket.on("message", (message) => note(flow, message.readUInt32BE(0)));
  socket.on("error", () => {});
  socket.bind();
  return flow;
}

function sendNext(flow: Flow, host: string): void {
  const datagram = Buffer.alloc(200);
  datagram.writeUInt32BE(flow.sent, 0);
  flow.sent += 1;
  flow.socket.send(datagram, port, host, () => {});
}

function note(flow: Flow, number: number): void {
  const nowMs = performance.now();
  flow.returned += 1;
  if (number < flow.newest) flow.reordered += 1;
  flow.newest = Math.max(flow.newest, number);
  flow.gapMs = Math.max(flow.gapMs, nowMs - flow.lastMs);
  flow.lastMs = nowMs;
}
