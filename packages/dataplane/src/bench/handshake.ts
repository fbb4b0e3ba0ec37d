import { parseArgs } from "node:util";
import { createResponderLoad, type Sender } from "./responder-load.ts";

/** Prints handshakes per second of processor time as one line of JSON; `--seconds N` per case. */
function main(): void {
  const { values } = parseArgs({ options: { seconds: { type: "string", default: "3" } } });
  const seconds = Number(values.seconds);
  const cases = [
    { name: "responder", unit: "handshakes/s", value: perSecond("peer", seconds) },
    { name: "responder, first contact", unit: "handshakes/s", value: perSecond("new-peer", seconds) },
    { name: "stranger refused", unit: "initiations/s", value: perSecond("stranger", seconds) },
  ];
  process.stdout.write(`${JSON.stringify({ cases })}\n`);
}

/** Only the answering is timed, in processor time of this process: other programs on the machine do not count. */
function perSecond(sender: Sender, seconds: number): number {
  createResponderLoad(ROUND, sender).runAll();
  let spentMs = 0;
  let done = 0;
  while (spentMs < seconds * 1_000) {
    const load = createResponderLoad(ROUND, sender);
    const before = load.counters.initiationsAccepted;
    const start = process.cpuUsage();
    done += load.runAll();
    const { user, system } = process.cpuUsage(start);
    spentMs += (user + system) / 1_000;
    const { initiationsAccepted, droppedUnknownPeer } = load.counters;
    const asExpected = sender === "stranger" ? droppedUnknownPeer : initiationsAccepted - before;
    if (asExpected !== ROUND) throw new Error(`only ${asExpected} of ${ROUND} initiations did what they should`);
  }
  return Math.round(done / (spentMs / 1_000));
}

const ROUND = 500;

main();
