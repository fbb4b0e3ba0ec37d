/**
 * Counts short TCP transfers: connect, receive 20,000 bytes, close, again.
 *
 * Usage: node short-transfers.js serve ADDRESS PORT
 *        node short-transfers.js fetch ADDRESS PORT SECONDS
 * The client drops the first second and prints one JSON line {"transfers", "seconds", "broken"}.
 */
import { connect, createServer } from "node:net";

const [mode, address, portText, secondsText] = process.argv.slice(2);
const port = Number.parseInt(portText ?? "", 10);
if (address === undefined || !Number.isInteger(port)) usage();
else if (mode === "serve") serve(address, port);
else if (mode === "fetch") await fetchFor(address, port, Number.parseInt(secondsText ?? "5", 10));
else usage();

function serve(host: string, listenPort: number): void {
  const payload = Buffer.alloc(transferBytes(), 0x5a);
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.end(payload);
  });
  server.listen(listenPort, host, () => process.stdout.write("ready\n"));
}

async function fetchFor(host: string, targetPort: number, seconds: number): Promise<void> {
  const warmUntil = performance.now() + 1_000;
  while (performance.now() < warmUntil) await fetchOnce(host, targetPort);
  const startMs = performance.now();
  const endMs = startMs + seconds * 1_000;
  let transfers = 0;
  let broken = 0;
  while (performance.now() < endMs) {
    if ((await fetchOnce(host, targetPort)) === transferBytes()) transfers += 1;
    else broken += 1;
  }
  const took = (performance.now() - startMs) / 1_000;
  process.stdout.write(`${JSON.stringify({ transfers, broken, seconds: took })}\n`);
}

/** Bytes received until the other side closed; an error counts as what had arrived by then, minus one. */
function fetchOnce(host: string, targetPort: number): Promise<number> {
  return new Promise((resolve) => {
    let received = 0;
    const socket = connect(targetPort, host);
    socket.setTimeout(5_000, () => socket.destroy(new Error("no data for 5 s")));
    socket.on("data", (chunk) => (received += chunk.length));
    socket.on("error", () => resolve(received - 1));
    socket.on("close", () => resolve(received));
  });
}

function usage(): void {
  process.stderr.write("usage: short-transfers serve|fetch ADDRESS PORT [SECONDS]\n");
  process.exitCode = 2;
}

function transferBytes(): number {
  return 20_000;
}
