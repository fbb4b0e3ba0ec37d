/**
 * Gentle TCP traffic between two hosts: a few Mbit/s that rise and fall, with a quarter of it answered.
 *
 * Usage: node traffic.js serve ADDRESS PORT
 *        node traffic.js send ADDRESS PORT
 * The sender reconnects by itself and prints "flowing" whenever a connection is up.
 */
import { connect, createServer, type Socket } from "node:net";

const STEP_MS = 50;
const RECONNECT_MS = 1_000;
const MIDDLE_MBIT = 4;
const SWING_MBIT = 2.5;
const SWING_SECONDS = 45;
const [mode, address, portText] = process.argv.slice(2);
const port = Number.parseInt(portText ?? "", 10);
const payload = Buffer.alloc(256 * 1_024, 0x77);

if (address !== undefined && Number.isInteger(port) && mode === "serve") serve(address, port);
else if (address !== undefined && Number.isInteger(port) && mode === "send") send(address, port);
else {
  process.stderr.write("usage: traffic serve|send ADDRESS PORT\n");
  process.exitCode = 2;
}

function serve(host: string, listenPort: number): void {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => writeIfRoom(socket, chunk.subarray(0, chunk.length / 4)));
  });
  server.listen(listenPort, host, () => process.stdout.write("ready\n"));
}

function send(host: string, targetPort: number): void {
  const socket = connect(targetPort, host, () => process.stdout.write("flowing\n"));
  const timer = setInterval(() => writeIfRoom(socket, payload.subarray(0, stepBytes())), STEP_MS);
  socket.setTimeout(10_000, () => socket.destroy());
  socket.on("data", () => {
    // The answer only has to cross the tunnel.
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    clearInterval(timer);
    setTimeout(() => send(host, targetPort), RECONNECT_MS);
  });
}

/** Bytes of one step of a slow wave with some noise on it. */
function stepBytes(): number {
  const wave = Math.sin((performance.now() / 1_000 / SWING_SECONDS) * 2 * Math.PI) * SWING_MBIT;
  const noise = (Math.random() - 0.5) * 1.5;
  const mbit = Math.max(0.5, MIDDLE_MBIT + wave + noise);
  return Math.round((mbit * 1e6 * (STEP_MS / 1_000)) / 8);
}

/** Skips a step rather than queueing without bound when the path is slower than the wave. */
function writeIfRoom(socket: Socket, bytes: Uint8Array): void {
  if (socket.writable && socket.writableLength < payload.length) socket.write(bytes);
}
