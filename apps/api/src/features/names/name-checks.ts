import type { GroupId, NetworkId } from "@weft/protocol";
import { isDomainName } from "@weft/protocol";
import type { Executor } from "../../db/client.ts";
import { unknownGroups } from "../../db/groups-repository.ts";
import type { Failure } from "../../domain/failure.ts";

/** What is wrong with a list of domains; nothing when all can be. */
export function domainsFault(field: string, domains: readonly string[]): Failure | undefined {
  const place = domains.findIndex((domain) => !isDomainName(domain));
  if (place >= 0) {
    const reason = "a domain has letters, digits, dashes and dots only, at most 200 characters";
    return { code: "name_fault", field: `${field}/${place}`, reason };
  }
  const twice = domains.findIndex((domain, at) => domains.indexOf(domain) !== at);
  return twice < 0 ? undefined : { code: "name_fault", field: `${field}/${twice}`, reason: "stands here twice" };
}

/** What is wrong with a list of groups: each must be one of the network. */
export async function groupsFault(
  tx: Executor,
  networkId: NetworkId,
  { field, ids }: { readonly field: string; readonly ids: readonly GroupId[] },
): Promise<Failure | undefined> {
  const [unknown] = await unknownGroups(tx, networkId, ids);
  if (unknown === undefined) return undefined;
  return { code: "name_fault", field, reason: `there is no group ${unknown} in this network` };
}
