/**
 * Forwards TCP connections of one network namespace to a Unix socket outside it.
 *
 * Usage: node socket-relay.js ADDRESS PORT SOCKET. Filesystem sockets cross network namespaces, so agents in a closed
 * lab reach a server that listens outside. Prints "ready" when it listens.
 */
import { connect, createServer } from "node:net";

const [address, port, socketPath] = process.argv.slice(2);
if (address === undefined || port === undefined || socketPath === undefined) {
  process.stderr.write("usage: socket-relay ADDRESS PORT SOCKET\n");
  process.exit(2);
}

const server = createServer((client) => {
  const upstream = connect(socketPath);
  client.on("error", () => upstream.destroy());
  upstream.on("error", () => client.resetAndDestroy());
  client.on("close", () => upstream.destroy());
  upstream.on("close", () => client.destroy());
  client.pipe(upstream);
  upstream.pipe(client);
});
server.on("error", (error) => {
  process.stderr.write(`socket-relay: cannot listen on ${address}:${port}: ${error.message}\n`);
  process.exit(1);
});
server.listen(Number.parseInt(port, 10), address, () => process.stdout.write("ready\n"));
