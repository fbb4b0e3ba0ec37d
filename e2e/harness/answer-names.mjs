// A nameserver for tests: gives every name the address of the second argument, and prints what it is asked.
import { createSocket } from "node:dgram";

const [, , address, answer] = process.argv;
const socket = createSocket("udp4");
socket.on("message", (message, from) => {
  const labels = [];
  let at = 12;
  for (let length = message[at]; length > 0; length = message[at]) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  const type = message.readUInt16BE(at + 1);
  console.log(`asked ${labels.join(".")}`);
  const header = Buffer.from([message[0], message[1], 0x81, 0x80, 0, 1, 0, type === 1 ? 1 : 0, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...answer.split(".").map(Number)]);
  const question = message.subarray(12, at + 5);
  socket.send(Buffer.concat([header, question, ...(type === 1 ? [record] : [])]), from.port, from.address);
});
socket.bind(53, address, () => console.log("answers names"));
