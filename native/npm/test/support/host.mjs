// One engine in one namespace, driven over the process channel: start it with `ip netns exec NAME node host.mjs JSON`.
import {
  addAddress,
  addRoute,
  Engine,
  peerCounterNames,
  shardCounterNames,
  stageNames,
  totalCounterNames,
} from "../../index.js";
import * as commands from "./commands.mjs";

const setup = JSON.parse(process.argv[2]);
const events = [];
const engine = new Engine(
  { tunName: "weft0", tunMtu: 1420, publicKey: new Uint8Array(32).fill(7), ...setup.engine },
  () => {
    const into = new Uint8Array(4096);
    for (let used = engine.takeEvents(into); used > 0; used = engine.takeEvents(into)) {
      events.push(Buffer.from(into.slice(0, used)).toString("hex"));
    }
  },
);
for (const address of setup.addresses) {
  addAddress(engine.tunName, address);
}
for (const route of setup.routes ?? []) {
  addRoute(engine.tunName, route);
}
const { session, endpoint } = setup;
engine.apply(
  commands.batch(
    commands.allowAll(),
    commands.addPeer(1, setup.keepaliveSeconds ?? 0),
    commands.setAllowedIps(1, setup.allowedIps),
    commands.setEndpoint(1, endpoint.address, endpoint.port),
    ...(session
      ? [
          commands.installSession({
            ...session,
            peer: 1,
            sendKey: Buffer.alloc(32, session.sendKey),
            receiveKey: Buffer.alloc(32, session.receiveKey),
          }),
        ]
      : []),
  ),
);

process.on("message", (request) => {
  switch (request) {
    case "report":
      process.send(report());
      break;
    case "close":
      engine.close();
      process.send({ closed: true });
      process.disconnect();
      break;
    default:
      throw new Error(`unknown request ${request}`);
  }
});
process.send({ port: engine.listenPort });

function report() {
  const peerRow = new BigUint64Array(64);
  engine.readPeerCounters(peerRow);
  const totals = new BigUint64Array(128);
  engine.readTotals(totals);
  const stageRows = new BigUint64Array(8 * 11 * 6);
  const rows = engine.readShardCounters(stageRows);
  const columns = shardCounterNames();
  const stages = {};
  for (let row = 0; row < rows; row += 1) {
    const [shard, stage, ...rest] = stageRows.slice(row * columns.length, (row + 1) * columns.length);
    const name = `${shard}/${stageNames()[Number(stage)]}`;
    stages[name] = Object.fromEntries(columns.slice(2).map((column, at) => [column, Number(rest[at])]));
  }
  return {
    peer: named(peerCounterNames(), peerRow),
    totals: named(totalCounterNames(), totals),
    stages,
    status: engine.status(),
    events,
    cpu: process.cpuUsage(),
    rss: process.memoryUsage().rss,
  };
}

function named(names, values) {
  return Object.fromEntries(names.map((name, at) => [name, Number(values[at])]));
}
