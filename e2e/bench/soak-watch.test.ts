import { expect, test } from "vitest";

import type { EndpointState } from "../interop/endpoint-settings.ts";
import { createSoakWatch, type SoakWatch } from "./soak-watch.ts";

const QUIET: EndpointState = {
  event: "state",
  newestHandshakeAtMs: 0,
  totals: { packets: 5 },
  peers: { rxBytes: 2e9 },
  handshakes: { responsesAccepted: 10 },
  faults: 0,
};

test("a run without trouble has no problems", () => {
  const outcome = watched().outcome(3, 40);

  expect(outcome).toMatchObject({ problems: [], gigabytes: 2, handshakes: 10, comparedBytes: 1_000 });
});

test.each<[string, (watch: SoakWatch) => void, string]>([
  ["faults", (watch) => watch.look({ pid: 2, state: { ...QUIET, faults: 2 }, rssMb: 50 }), "2 faults"],
  ["changed bytes", (watch) => watch.noteTransfer({ receivedBytes: 999, identical: false }), "1 transfers"],
  [
    "counters that go back",
    (watch) => watch.look({ pid: 1, state: { ...QUIET, totals: { packets: 4 } }, rssMb: 50 }),
    "the counter totals.packets went back",
  ],
  ["memory that grows", (watch) => watch.look({ pid: 1, state: QUIET, rssMb: 90 }), "memory grew by 40.0 MB"],
])("%s are a problem", (_name, happen, words) => {
  const watch = watched();
  happen(watch);

  expect(watch.outcome(3, 40).problems).toEqual([expect.stringContaining(words)]);
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
