// One side of a tunnel with fixed keys (a real program negotiates them). Run both sides as root, for instance in two
// namespaces joined by a veth pair with 192.0.2.1 and 192.0.2.2 (README, "Try the engine"):
//   node engine.mjs initiator 10.0.0.1 10.0.0.2 192.0.2.2
//   node engine.mjs responder 10.0.0.2 10.0.0.1 192.0.2.1
import { addAddress, Engine, peerCounterNames } from "../index.js";
import * as commands from "./commands.mjs";

const [role, ownAddress, peerAddress, peerHost] = process.argv.slice(2);
if (!["initiator", "responder"].includes(role) || !peerHost) {
  console.error("usage: node engine.mjs initiator|responder OWN-ADDRESS PEER-ADDRESS PEER-HOST");
  process.exit(2);
}
const port = 51_820;
const peer = 0;
const isInitiator = role === "initiator";

const engine = new Engine(
  { tunName: "tunnel%d", tunMtu: 1420, listenPort: port, publicKey: new Uint8Array(32).fill(7) },
  () => {
    const into = new Uint8Array(4096);
    for (let used = engine.takeEvents(into); used > 0; used = engine.takeEvents(into)) {
      console.log(`${used} bytes of events, the first of kind ${into[0]}`);
    }
  },
);
addAddress(engine.tunName, `${ownAddress}/24`);
engine.apply(
  commands.batch(
    commands.allowAll(),
    commands.addPeer(peer),
    commands.setAllowedIps(peer, [`${peerAddress}/32`]),
    commands.setEndpoint(peer, peerHost, port),
    commands.installSession({
      peer,
      localIndex: isInitiator ? 1 : 2,
      remoteIndex: isInitiator ? 2 : 1,
      role,
      sendKey: Buffer.alloc(32, isInitiator ? 1 : 2),
      receiveKey: Buffer.alloc(32, isInitiator ? 2 : 1),
    }),
  ),
);
console.log(`${engine.tunName} is up with ${engine.shardCount} workers; the keys last 180 seconds; Ctrl-C ends`);
for (const { name, state, reason } of engine.status().offloads) {
  console.log(`  ${name}: ${state}${reason ? ` (${reason})` : ""}`);
}

const names = peerCounterNames();
const row = new BigUint64Array(names.length);
const timer = setInterval(() => {
  engine.readPeerCounters(row);
  const value = (name) => row[names.indexOf(name)];
  console.log(`received ${value("rxBytes")} bytes, sent ${value("txBytes")} bytes`);
}, 1_000);
process.once("SIGINT", () => {
  clearInterval(timer);
  engine.close();
});
