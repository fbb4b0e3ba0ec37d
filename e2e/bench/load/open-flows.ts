/**
 * Sends one small datagram to each of many ports, so that a filter on the way remembers so many flows.
 *
 * Usage: node open-flows.js ADDRESS COUNT
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

const PORTS = 60_000;
const FIRST_PORT = 2_000;
const BURST = 500;

const [address, countText] = process.argv.slice(2);
const count = Number(countText);
if (address === undefined || !Number.isSafeInteger(count) || count < 1 || count > 1_000_000)
  throw new Error("usage: open-flows ADDRESS COUNT");
const payload = Buffer.from("flow");
for (let first = 0; first < count; first += PORTS) {
  const socket = createSocket("udp4");
  // Nobody listens: refusals come back and say nothing here.
  socket.on("error", () => {});
  socket.bind(0);
  await once(socket, "listening");
  const ports = Math.min(PORTS, count - first);
  for (let port = 0; port < ports; port += 1) {
    socket.send(payload, FIRST_PORT + port, address);
    if (port % BURST === BURST - 1) await pause(5);
  }
  await pause(100);
  socket.close();
}
