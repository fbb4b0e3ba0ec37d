// Opens a TUN device and answers every ping to 198.51.100.0/24.
// Run as root: node tun-echo.mjs, then from another shell: ping 198.51.100.7
import { addAddress, Tun } from "../index.js";

const tun = Tun.open({ name: "echo%d", mtu: 1500 });
addAddress(tun.name, "198.51.100.1/24");
console.log(`answering pings to 198.51.100.0/24 on ${tun.name}; Ctrl-C ends`);
for (const { name, state, reason } of tun.offloads()) {
  console.log(`${name}: ${state}${reason ? ` (${reason})` : ""}`);
}

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const into = new Uint8Array(65_535 * 4);
const lengths = new Uint32Array(64);
while (!stop.signal.aborted) {
  if (!(await tun.waitReadable(0, 500))) {
    continue;
  }
  const count = tun.read(0, into, lengths);
  let start = 0;
  for (const length of lengths.subarray(0, count)) {
    const packet = into.slice(start, start + length);
    start += length;
    if (isEchoRequest(packet)) {
      tun.write(0, answered(packet), Uint32Array.of(length));
    }
  }
}
tun.close();

function isEchoRequest(packet) {
  return packet[0] === 0x45 && packet[9] === 1 && packet[20] === 8;
}

/** The answer to an echo request: ends exchanged, type 0, checksum adjusted by the difference of the type. */
function answered(request) {
  const view = Buffer.from(request);
  const source = Buffer.from(view.subarray(12, 16));
  view.copy(view, 12, 16, 20);
  source.copy(view, 16);
  view[20] = 0;
  const sum = view.readUInt16BE(22) + 0x0800;
  view.writeUInt16BE((sum & 0xffff) + (sum >> 16), 22);
  return view;
}
