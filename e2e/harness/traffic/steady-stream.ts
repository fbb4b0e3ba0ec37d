/**
 * A TCP stream of constant rate that notices stalls.
 *
 * Usage: node steady-stream.js serve ADDRESS PORT
 *        node steady-stream.js send ADDRESS PORT MBIT SECONDS
 * The server echoes one byte for every step it gets; the sender prints one JSON line
 * {"sentSteps", "answeredSteps", "longestGapMs", "firstSentAtMs"} at the end; the last one is null without a connection.
 */
import { connect, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const STEP_MS = 20;
const [mode, address, portText, mbitText, secondsText] = process.argv.slice(2);
const port = Number.parseInt(portText ?? "", 10);
/** Filled by the first bytes of a connection: how long a step of this sender is. */
const LENGTH_BYTES = 4;

if (address !== undefined && Number.isInteger(port) && mode === "serve") serve(address, port);
else if (address !== undefined && Number.isInteger(port) && mode === "send") {
  await send({ host: address, port }, Number.parseFloat(mbitText ?? "5"), Number.parseFloat(secondsText ?? "5"));
} else {
  process.stderr.write("usage: steady-stream serve|send ADDRESS PORT [MBIT SECONDS]\n");
  process.exitCode = 2;
}

function serve(host: string, listenPort: number): void {
  const server = createServer({ noDelay: true }, (socket) => {
    let received = 0;
    let answered = 0;
    let head = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      if (head.length < LENGTH_BYTES) head = Buffer.concat([head, chunk]).subarray(0, LENGTH_BYTES);
      received += chunk.length;
      if (head.length < LENGTH_BYTES) return;
      const complete = Math.floor((received - LENGTH_BYTES) / head.readUInt32BE());
      if (complete > answered) socket.write(Buffer.alloc(complete - answered));
      answered = complete;
    });
    socket.on("error", () => socket.destroy());
  });
  server.listen(listenPort, host, () => process.stdout.write("ready\n"));
}

async function send(to: { host: string; port: number }, mbit: number, seconds: number): Promise<void> {
  const step = Buffer.alloc(Math.round((mbit * 1e6 * (STEP_MS / 1_000)) / 8), 0x33);
  const socket = connect({ ...to, noDelay: true });
  const steps = { sent: 0, answered: 0 };
  let longestGapMs = 0;
  let firstSentAtMs: number | null = null;
  // What was written before leaves now.
  socket.once("connect", () => {
    firstSentAtMs = Date.now();
  });
  let lastAnswerAtMs = performance.now();
  socket.on("data", (chunk) => {
    steps.answered += chunk.length;
    longestGapMs = Math.max(longestGapMs, performance.now() - lastAnswerAtMs);
    lastAnswerAtMs = performance.now();
  });
  socket.on("error", (error) => process.stderr.write(`steady-stream: ${error.message}\n`));
  const head = Buffer.alloc(LENGTH_BYTES);
  head.writeUInt32BE(step.length);
  socket.write(head);
  const endMs = performance.now() + seconds * 1_000;
  while (performance.now() < endMs && !socket.destroyed) {
    socket.write(step);
    steps.sent += 1;
    await pause(STEP_MS);
  }
  const patienceEndMs = performance.now() + 5_000;
  while (steps.answered < steps.sent && performance.now() < patienceEndMs && !socket.destroyed) await pause(STEP_MS);
  longestGapMs = Math.max(longestGapMs, steps.answered < steps.sent ? performance.now() - lastAnswerAtMs : 0);
  socket.destroy();
  process.stdout.write(
    `${JSON.stringify({ sentSteps: steps.sent, answeredSteps: steps.answered, longestGapMs: Math.round(longestGapMs), firstSentAtMs })}\n`,
  );
}
