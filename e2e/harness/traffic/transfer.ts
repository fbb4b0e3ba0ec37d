/**
 * Byte-for-byte transfer over TCP.
 *
 * Usage: node transfer.js serve ADDRESS PORT
 *        node transfer.js send ADDRESS PORT BYTES
 * The sender streams pseudo-random bytes, closes its side, and gets back count and hash of what arrived. It prints one
 * JSON line {"sentBytes", "receivedBytes", "identical", "seconds"}.
 */
import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { text } from "node:stream/consumers";

const CHUNK = Buffer.alloc(64 * 1_024);
const [mode, address, portText, bytesText] = process.argv.slice(2);
const port = Number.parseInt(portText ?? "", 10);

if (address !== undefined && Number.isInteger(port) && mode === "serve") serve(address, port);
else if (address !== undefined && Number.isInteger(port) && mode === "send") {
  await send(address, port, Number.parseInt(bytesText ?? "0", 10));
} else {
  process.stderr.write("usage: transfer serve|send ADDRESS PORT [BYTES]\n");
  process.exitCode = 2;
}

function serve(host: string, listenPort: number): void {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const hash = createHash("sha256");
    let receivedBytes = 0;
    socket.on("data", (chunk) => {
      hash.update(chunk);
      receivedBytes += chunk.length;
    });
    socket.on("end", () => socket.end(`${String(receivedBytes)} ${hash.digest("hex")}`));
    socket.on("error", () => socket.destroy());
  });
  server.listen(listenPort, host, () => process.stdout.write("ready\n"));
}

async function send(host: string, targetPort: number, totalBytes: number): Promise<void> {
  const keystream = createCipheriv("aes-128-ctr", randomBytes(16), randomBytes(16));
  const hash = createHash("sha256");
  const socket = connect({ host, port: targetPort, allowHalfOpen: true });
  const answer = text(socket);
  const startMs = performance.now();
  for (let left = totalBytes; left > 0;) {
    const chunk = keystream.update(CHUNK.subarray(0, Math.min(left, CHUNK.length)));
    left -= chunk.length;
    hash.update(chunk);
    if (!socket.write(chunk)) await once(socket, "drain");
  }
  socket.end();
  const [countText, digest] = (await answer).split(" ");
  const receivedBytes = Number.parseInt(countText ?? "0", 10);
  const identical = receivedBytes === totalBytes && digest === hash.digest("hex");
  const seconds = (performance.now() - startMs) / 1_000;
  process.stdout.write(`${JSON.stringify({ sentBytes: totalBytes, receivedBytes, identical, seconds })}\n`);
}
