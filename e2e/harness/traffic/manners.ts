/**
 * What applications do to a TCP connection besides streaming: many small writes without delay, a half-close, a reset.
 *
 * Usage: node manners.js serve ADDRESS PORT
 *        node manners.js visit ADDRESS PORT
 * The client prints one JSON line that says what both ends saw; it must not depend on the path between them.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";

/** Until the other side has certainly noticed. */
const SETTLE_MS = 200;
const [mode, address, portText] = process.argv.slice(2);
const port = Number.parseInt(portText ?? "", 10);

if (address !== undefined && Number.isInteger(port) && mode === "serve") serve(address, port);
else if (address !== undefined && Number.isInteger(port) && mode === "visit") await visit(address, port);
else {
  process.stderr.write("usage: manners serve|visit ADDRESS PORT\n");
  process.exitCode = 2;
}

/** Answers what it got only after the other side has closed its half; tells on request how the last visit but one ended. */
function serve(host: string, listenPort: number): void {
  let lastEnd = "none";
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const chunks: Buffer[] = [];
    const askedAbout = lastEnd;
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("end", () => {
      lastEnd = "closed";
      const got = Buffer.concat(chunks);
      socket.end(`${String(got.length)} ${createHash("sha256").update(got).digest("hex")} ${askedAbout}`);
    });
    socket.on("error", (error) => {
      lastEnd = "code" in error ? String(error.code) : error.message;
    });
  });
  server.listen(listenPort, host, () => process.stdout.write("ready\n"));
}

async function visit(host: string, targetPort: number): Promise<void> {
  const small = await smallWrites(await open(host, targetPort));
  const reset = await open(host, targetPort);
  reset.write("never answered");
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  reset.resetAndDestroy();
  await once(reset, "close");
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const after = await smallWrites(await open(host, targetPort));
  process.stdout.write(`${JSON.stringify({ small, after })}\n`);
}

/** 300 writes of 1 to 200 bytes, then a half-close; what the server says comes back through the half that is open. */
async function smallWrites(socket: Socket): Promise<{ bytes: number; same: boolean; previousEnd: string }> {
  const answer = buffer(socket);
  const hash = createHash("sha256");
  let bytes = 0;
  for (let number = 0; number < 300; number += 1) {
    const piece = Buffer.alloc(1 + ((number * 37) % 200), number);
    hash.update(piece);
    bytes += piece.length;
    socket.write(piece);
    if (number % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  socket.end();
  const [count, digest, previousEnd = ""] = (await answer).toString().split(" ");
  return { bytes: Number(count), same: digest === hash.digest("hex") && Number(count) === bytes, previousEnd };
}

async function open(host: string, targetPort: number): Promise<Socket> {
  const socket = connect({ host, port: targetPort, noDelay: true, allowHalfOpen: true });
  await once(socket, "connect");
  return socket;
}
