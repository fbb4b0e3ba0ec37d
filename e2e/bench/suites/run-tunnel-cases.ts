import { allContenders } from "../contenders/all.ts";
import type { Contender } from "../contenders/contender.ts";
import { INNER_MTU, YIP_MTU } from "../settings.ts";
import { runCases } from "./run-cases.ts";
import type { TunnelCase } from "./suite.ts";
import type { SuiteBody, SuiteContext } from "./suite-run.ts";

/** Runs cases that measure tunnels between two hosts, with every contender that is wanted. */
export async function runTunnelCases(
  cases: readonly TunnelCase[],
  context: SuiteContext,
  contenders: readonly Contender[] = allContenders(),
): Promise<SuiteBody> {
  const { rounds, seconds } = context.options;
  const { linkOffloads, profiles, ...measured } = await runCases({
    cases,
    contenders,
    wants: context.wants,
    rounds,
    seconds,
    progress: context.progress,
  });
  return {
    settings: {
      rounds,
      seconds,
      innerMtu: INNER_MTU,
      innerMtuOfYip: YIP_MTU,
      congestionControl: "cubic",
      droppedSeconds: 1,
      cipher: "ChaCha20-Poly1305 where `profiles` says no other",
      profiles,
      linkOffloads,
    },
    ...measured,
  };
}
