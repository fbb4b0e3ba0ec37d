import { err, ok } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { countAgentVersions } from "../../db/peers-repository.ts";
import { standing } from "../../domain/release-version.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { peersContract } from "./contract.ts";

/** Counts the peers of a network by the version of their agent. */
export async function agentVersions(
  deps: FeatureDeps,
  _call: Call,
  { networkId }: InputOf<typeof peersContract.versions>,
): Outcome<typeof peersContract.versions> {
  const { db } = deps.database;
  const network = await findNetwork(db, networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  const serverVersion = deps.server.version;
  const counts = await countAgentVersions(db, network.id);
  const versions = counts.map(({ agentVersion, peerCount }) => ({
    agentVersion,
    peerCount,
    standing: standing(agentVersion, serverVersion),
  }));
  return ok({ serverVersion, versions });
}
