import { runSoak } from "../soak-run.ts";
import { plainSamples, toCaseReport } from "../report.ts";
import type { SuiteBody, SuiteContext } from "./suite-run.ts";

/** The one case of the suite. */
export const SOAK_CASES = ["soak"];

/** Full load for a long time while links, addresses and daemons come and go and keys change every 5 s. */
export async function runSoakSuite({ options, progress }: SuiteContext): Promise<SuiteBody> {
  const { seconds } = options;
  const outcome = await runSoak({ seconds, progress });
  const row = toCaseReport({
    name: "soak",
    contender: "weft",
    unit: "disturbances survived",
    samples: plainSamples([outcome.disturbances]),
    late: {
      handshakes: outcome.handshakes,
      gigabytes: outcome.gigabytes,
      flows: outcome.flows,
      recoveryMsMax: outcome.recoveryMsMax,
      lostEvents: outcome.lostEvents,
      countersGoneBack: outcome.countersGoneBack.length,
      rssGrowthMb: outcome.rssGrowthMb,
      faults: outcome.faults,
      refusedInAbsence: outcome.refusedInAbsence,
      comparedBytes: outcome.comparedBytes,
      alteredTransfers: outcome.alteredTransfers,
    },
  });
  return { settings: { seconds, rekeyAfterSeconds: 5 }, cases: [row], skipped: [], problems: outcome.problems };
}
