/**
 * UDP flows that come and go: every datagram is the only one of its flow.
 *
 * Usage: node churn.js ADDRESS PER_SECOND
 * Runs until it is asked to end. Nobody has to listen at the address.
 */
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";

const [address, perSecondText] = process.argv.slice(2);
const perSecond = Number.parseInt(perSecondText ?? "", 10);
/** Source ports, each of which meets every destination port once before any pair comes again. */
const SOCKETS = 16;
const PORTS = { first: 20_000, count: 40_000 };
const TICK_MS = 10;
/** What a busy machine missed is made up for in no larger steps: the sender must not become a flood. */
const PER_TICK_MAX = 100;

if (address !== undefined && perSecond > 0) churn(address);
else {
  process.stderr.write("usage: churn ADDRESS PER_SECOND\n");
  process.exitCode = 2;
}

function churn(host: string): void {
  const sockets = Array.from({ length: SOCKETS }, () => createSocket(isIPv6(host) ? "udp6" : "udp4"));
  for (const socket of sockets) socket.bind().on("error", ignore);
  const startedMs = performance.now();
  let flows = 0;
  setInterval(() => {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * perSecond);
    for (let left = Math.min(due - flows, PER_TICK_MAX); left > 0; left -= 1) {
      startFlow(host, sockets, flows);
      flows += 1;
    }
  }, TICK_MS);
}

function startFlow(host: string, sockets: readonly Socket[], flow: number): void {
  const socket = sockets[Math.floor(flow / PORTS.count) % SOCKETS];
  socket?.send("flow", PORTS.first + (flow % PORTS.count), host, ignore);
}

/** The network goes away now and then: a datagram that finds none has still begun its flow, or the next one will. */
function ignore(): void {
  // Nothing to do.
}
