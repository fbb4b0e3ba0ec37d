import { startMeasuredServer } from "../fleet/measured-server.ts";
import { createRowCollector } from "../row-collector.ts";
import { CONTENDER } from "./control-plane-kit.ts";
import { FIVE_THOUSAND_CASES, measureFiveThousand, measureHundred } from "./control-plane-large.ts";
import { measureThousand, THOUSAND_CASES } from "./control-plane-thousand.ts";
import { measureManyPeers } from "./many-peers.ts";
import type { SuiteBody, SuiteContext } from "./suite-run.ts";

/** The budgets of the control plane: the built server with its own database, and agents that speak the real protocol. */
export async function runControlPlaneSuite(context: SuiteContext): Promise<SuiteBody> {
  const problems: string[] = [];
  const rows = createRowCollector(context.progress);
  const scene = { ...context, rows, problem: (text: string) => void problems.push(text) };
  const wantsAny = (names: readonly string[]) => names.some((name) => context.wants(name, CONTENDER));
  if (wantsAny(THOUSAND_CASES)) await onFreshServer((server) => measureThousand(server, scene));
  if (wantsAny(["change-100"])) await onFreshServer((server) => measureHundred(server, scene));
  if (wantsAny(FIVE_THOUSAND_CASES)) await onFreshServer((server) => measureFiveThousand(server, scene));
  const tunnel = await measureManyPeers({
    ...context,
    wants: (name, contender) => name === TUNNEL_CASE && context.wants(name, contender),
  });
  const settings = {
    agents: "light agents in the bench's process, real handshake, records and maps over loopback",
    database: "embedded PostgreSQL",
    cpu: "of the server and its database, both ends on the same machine",
  };
  return { settings, cases: [...rows.rows(), ...tunnel.cases], skipped: tunnel.skipped, problems };
}

async function onFreshServer(
  measure: (server: Awaited<ReturnType<typeof startMeasuredServer>>) => Promise<void>,
): Promise<void> {
  const server = await startMeasuredServer();
  try {
    await measure(server);
  } finally {
    await server.stop();
  }
}

const TUNNEL_CASE = "peer-change";
export const CONTROL_PLANE_CASES = [...THOUSAND_CASES, "change-100", ...FIVE_THOUSAND_CASES, TUNNEL_CASE];
