import { constants } from "node:os";
import { expect, test } from "vitest";

import type { EndpointFault, EndpointState } from "../interop/endpoint-settings.ts";
import { createSoakWatch, type SoakWatch } from "./soak-watch.ts";

const QUIET: EndpointState = {
  event: "state",
  newestHandshakeAtMs: 0,
  totals: { packets: 5, flowsStarted: 40_000 },
  stages: {},
  peers: { rxBytes: 2e9 },
  handshakes: { responsesAccepted: 10 },
  faults: [],
};

/** A send was refused: the host has no route. */
const AWAY: EndpointFault = { operation: "udp-send", severity: "passing", errno: constants.errno.ENETUNREACH };

test("a run without trouble has no problems", () => {
  const outcome = watched().outcome(3, 40);

  expect(outcome).toMatchObject({ problems: [], gigabytes: 2, handshakes: 10, comparedBytes: 1_000 });
});

test.each<[string, (watch: SoakWatch) => void, string]>([
  ["faults", (watch) => watch.look({ pid: 2, state: { ...QUIET, faults: [AWAY, AWAY] }, rssMb: 50 }), "2 faults"],
  ["changed bytes", (watch) => watch.noteTransfer({ receivedBytes: 999, identical: false }), "1 transfers"],
  [
    "counters that go back",
    (watch) => watch.look({ pid: 1, state: { ...QUIET, totals: { ...QUIET.totals, packets: 4 } }, rssMb: 50 }),
    "the counter totals.packets went back",
  ],
  ["memory that grows", (watch) => watch.look({ pid: 1, state: QUIET, rssMb: 90 }), "memory grew by 40.0 MB"],
])("%s are a problem", (_name, happen, words) => {
  const watch = watched();
  happen(watch);

  expect(watch.outcome(3, 40).problems).toEqual([expect.stringContaining(words)]);
});

test("flows that do not come and go are a problem", () => {
  const watch = createSoakWatch();
  watch.look({ pid: 1, state: { ...QUIET, totals: { flowsStarted: 90 } }, rssMb: 50 });
  watch.noteTransfer({ receivedBytes: 1_000, identical: true });

  expect(watch.outcome(3, 40).problems).toEqual([expect.stringContaining("90 flows in 40 s")]);
});

test("sends that are refused while the soak has taken the network away are no faults, and counted apart", () => {
  const watch = watched();
  const [before, after] = [QUIET, { ...QUIET, faults: [AWAY, AWAY] }];
  watch.look({ pid: 1, state: after, rssMb: 50 });

  watch.noteAbsence(before, after);

  expect(watch.outcome(3, 40)).toMatchObject({ problems: [], faults: 0, refusedInAbsence: 2 });
});

test.each<[string, EndpointFault]>([
  ["another call", { ...AWAY, operation: "tun-write" }],
  ["another reason", { ...AWAY, errno: constants.errno.EHOSTUNREACH }],
  ["a fatal one", { ...AWAY, severity: "fatal" }],
  ["the engine itself", { operation: "engine", severity: "fatal", errno: 0 }],
])("any other fault of that time counts: %s", (_name, fault) => {
  const watch = watched();
  const after = { ...QUIET, faults: [AWAY, fault] };
  watch.look({ pid: 1, state: after, rssMb: 50 });

  watch.noteAbsence(QUIET, after);

  expect(watch.outcome(3, 40).problems).toEqual([expect.stringContaining("1 faults")]);
});

test("a send that is refused before or after that time counts", () => {
  const watch = watched();
  const before = { ...QUIET, faults: [AWAY] };
  const after = { ...QUIET, faults: [AWAY, AWAY] };
  watch.noteAbsence(before, after);

  watch.look({ pid: 1, state: { ...QUIET, faults: [AWAY, AWAY, AWAY] }, rssMb: 50 });

  expect(watch.outcome(3, 40)).toMatchObject({ faults: 2, refusedInAbsence: 1 });
});

test("a run that compares no bytes or disturbs nothing shows nothing", () => {
  const watch = createSoakWatch();
  watch.look({ pid: 1, state: QUIET, rssMb: 50 });

  expect(watch.outcome(0, 40).problems).toEqual(["nothing was disturbed", "no bytes were compared"]);
});

function watched(): SoakWatch {
  const watch = createSoakWatch();
  watch.look({ pid: 1, state: QUIET, rssMb: 50 });
  watch.noteTransfer({ receivedBytes: 1_000, identical: true });
  return watch;
}
