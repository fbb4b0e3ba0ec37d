/**
 * UDP datagrams of every size, there and back.
 *
 * Usage: node datagrams.js serve ADDRESS PORT
 *        node datagrams.js exchange ADDRESS PORT LARGEST
 * The server returns each datagram as it came. The client sends every size from 0 to LARGEST in random order, a few at
 * a time, and prints one JSON line {"sent", "identical", "altered", "lost", "reordered"}.
 */
import { randomBytes, randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";

/** Datagrams on the road at a time: few enough that no socket buffer overflows. */
const WINDOW = 16;
/**
 * The first ones go alone: the kernel learns which queue of a TUN device a flow belongs to from what is written there, and
 * what was under way in another queue by then may be overtaken (tun_flow_update).
 */
const ALONE = 2;
/** Silence for so long is a loss; a busy machine may stand still for seconds. */
const QUIET_MS = 10_000;
const [mode, address, portText, largestText] = process.argv.slice(2);
const port = Number.parseInt(portText ?? "", 10);

if (address !== undefined && Number.isInteger(port) && mode === "serve") serve(address, port);
else if (address !== undefined && Number.isInteger(port) && mode === "exchange") {
  await exchange(address, port, Number.parseInt(largestText ?? "1372", 10));
} else {
  process.stderr.write("usage: datagrams serve|exchange ADDRESS PORT [LARGEST]\n");
  process.exitCode = 2;
}

function serve(host: string, listenPort: number): void {
  const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  socket.on("message", (message, from) => socket.send(message, from.port, from.address));
  socket.bind(listenPort, host, () => process.stdout.write("ready\n"));
}

async function exchange(host: string, targetPort: number, largest: number): Promise<void> {
  const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  socket.connect(targetPort, host);
  await once(socket, "connect");
  const sent = shuffle(largest).map((size) => randomBytes(size));
  const returned: Buffer[] = [];
  let next = 0;
  const finished = new Promise<void>((resolve) => {
    let timer = setTimeout(resolve, QUIET_MS);
    const fill = (): void => {
      const window = returned.length < ALONE ? 1 : WINDOW;
      while (next < sent.length && next - returned.length < window) socket.send(sent[next++] ?? "");
    };
    socket.on("message", (message) => {
      returned.push(message);
      clearTimeout(timer);
      if (returned.length === sent.length) resolve();
      else timer = setTimeout(resolve, QUIET_MS);
      fill();
    });
    fill();
  });
  await finished;
  socket.close();
  process.stdout.write(`${JSON.stringify(compare(sent, returned))}\n`);
}

function compare(sent: readonly Buffer[], returned: readonly Buffer[]) {
  // Sizes are unique, so the size says which one came back.
  const bySize = new Map(sent.map((datagram, index) => [datagram.length, { datagram, index }]));
  let [identical, altered, reordered, newest] = [0, 0, 0, -1];
  for (const datagram of returned) {
    const original = bySize.get(datagram.length);
    if (!original?.datagram.equals(datagram)) {
      altered += 1;
      continue;
    }
    identical += 1;
    if (original.index < newest) reordered += 1;
    newest = Math.max(newest, original.index);
  }
  return { sent: sent.length, identical, altered, lost: sent.length - returned.length, reordered };
}

function shuffle(largest: number): number[] {
  const sizes = Array.from({ length: largest + 1 }, (_, size) => size);
  for (let index = sizes.length - 1; index > 0; index -= 1) {
    const other = randomInt(index + 1);
    const [left, right] = [sizes[index] ?? 0, sizes[other] ?? 0];
    sizes[index] = right;
    sizes[other] = left;
  }
  return sizes;
}
