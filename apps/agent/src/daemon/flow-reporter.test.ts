import type { RecordedFlow, Tunnel } from "@weft/dataplane";
import { type AgentFrame, type FlowReport, FLOW_RECORDS_MAX, parseIp } from "@weft/protocol";
import { aPeer, mustBe } from "@weft/protocol/testing";
import { expect, test } from "vitest";

import { createVirtualTimers } from "../testing/memory-system.ts";
import { createFlowReporter } from "./flow-reporter.ts";

const peer = aPeer();

function aFlow(changes: Partial<RecordedFlow> = {}): RecordedFlow {
  return {
    id: 7n,
    state: "open",
    publicKey: peer.publicKey,
    protocol: 6,
    local: mustBe(parseIp("100.64.0.1")),
    remote: mustBe(parseIp("100.64.0.2")),
    localPort: 1_000,
    remotePort: 22,
    icmpType: null,
    began: "here",
    verdict: "allow",
    rule: 5,
    rxPackets: 1,
    rxBytes: 100,
    txPackets: 2,
    txBytes: 200,
    drops: 0,
    ageMs: 10,
    idleMs: 5,
    ...changes,
  };
}

/** A reporter over a tunnel that has these flows to tell of, once. */
function aReporter() {
  const { timers, advance } = createVirtualTimers();
  const asked: number[] = [];
  const reports: FlowReport[] = [];
  const own = { sampling: 0, flows: [] as RecordedFlow[], lost: 0 };
  const tunnel: Pick<Tunnel, "takeFlowRecords"> = {
    takeFlowRecords({ sampling, recordsMax }) {
      asked.push(sampling);
      const taken = sampling === 0 ? [] : own.flows.splice(0, recordsMax);
      const lost = own.lost;
      own.lost = 0;
      return { records: taken, lost };
    },
  };
  const reporter = createFlowReporter({
    timers,
    tunnel: () => tunnel,
    sampling: () => own.sampling,
    peerByKey: (key) => (key === peer.publicKey ? peer : null),
    counterEpoch: () => 99n,
    send: (frame: AgentFrame) => frame.kind === "flowRecords" && reports.push(frame.flows),
  });
  return { reporter, own, asked, reports, advance };
}

test("AP-65: nothing is asked of the engine until a map asks for flows, and it is told when no map does any more", () => {
  const { reporter, own, asked, reports, advance } = aReporter();
  own.flows.push(aFlow());
  reporter.connected();
  advance(60_000);
  expect(asked).toEqual([]);

  own.sampling = 20;
  reporter.tunnelChanged();
  advance(2_000);
  own.sampling = 0;
  reporter.tunnelChanged();
  advance(60_000);

  expect(asked).toEqual([20, 20, 20, 0]);
  expect(reports).toMatchObject([
    {
      counterEpoch: 99n,
      lost: 0,
      records: [{ id: 7n, peerId: peer.id, rule: 5, verdict: "allow", rxBytes: 100n, txPackets: 2n, state: "open" }],
    },
  ]);
});

test("AP-65: a node that lost its map and got one again tells of flows as before", () => {
  const { reporter, own, reports, advance } = aReporter();
  own.sampling = 1;
  reporter.connected();
  own.sampling = 0;
  advance(5_000);
  own.sampling = 1;
  own.flows.push(aFlow());
  reporter.tunnelChanged();

  expect(reports.map(({ records }) => records.length)).toEqual([1]);
});

test("AP-65: while there is no stream flows wait in the engine", () => {
  const { reporter, own, asked, reports, advance } = aReporter();
  own.sampling = 1;
  reporter.tunnelChanged();
  reporter.connected();
  reporter.disconnected();
  const before = asked.length;
  own.flows.push(aFlow());
  advance(60_000);
  expect(asked).toHaveLength(before);

  reporter.connected();

  expect(reports.map(({ records }) => records.length)).toEqual([1]);
});

test("AP-65: one report has a bounded number of records, the next ones follow", () => {
  const { reporter, own, reports, advance } = aReporter();
  own.sampling = 1;
  own.flows.push(...Array.from({ length: FLOW_RECORDS_MAX + 3 }, (_, at) => aFlow({ id: BigInt(at) })));
  own.lost = 4;
  reporter.connected();
  advance(5_000);

  expect(reports.map(({ records, lost }) => [records.length, lost])).toEqual([
    [FLOW_RECORDS_MAX, 4],
    [3, 0],
  ]);
});

test("AP-65: of each rule only so many denied flows a second are told of; the others are counted", () => {
  const { reporter, own, reports, advance } = aReporter();
  own.sampling = 1;
  const scan = (rule: number | null) => Array.from({ length: 200 }, () => aFlow({ verdict: "deny", rule }));
  own.flows.push(...scan(3), ...scan(null), aFlow());
  reporter.connected();
  own.flows.push(...scan(3));
  advance(1_000);

  const told = reports.map(({ records, lost }) => [
    records.filter(({ rule }) => rule === 3).length,
    records.filter(({ rule }) => rule === null).length,
    records.filter(({ verdict }) => verdict === "allow").length,
    lost,
  ]);
  expect(told).toEqual([
    [50, 50, 1, 300],
    [10, 0, 0, 190],
  ]);
});

test("a flow whose peer is gone is told without it", () => {
  const { reporter, own, reports } = aReporter();
  own.sampling = 1;
  own.flows.push(aFlow({ publicKey: null, state: "ended" }));
  reporter.connected();

  expect(reports[0]?.records).toMatchObject([{ peerId: null, state: "ended" }]);
});
