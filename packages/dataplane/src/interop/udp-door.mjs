// A UDP socket inside a network namespace for a test outside of it: datagrams cross over the IPC channel as base64.
// Arguments: address and port to bind.
import { createSocket } from "node:dgram";

const [address, port] = process.argv.slice(2);
const socket = createSocket("udp4");
socket.on("message", (payload, from) =>
  process.send({ from: `${from.address}:${from.port}`, payload: payload.toString("base64") }),
);
socket.bind(Number(port), address, () => process.send({ ready: true }));
process.on("message", ({ host, port: toPort, payload }) => socket.send(Buffer.from(payload, "base64"), toPort, host));
process.on("disconnect", () => process.exit(0));
