import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "./context.ts";
import type { ServerRole } from "./types.ts";

/** Says whether whoever is signed in has at least a role in a network. */
export type HasRole = (wanted: Exclude<ServerRole, "none">) => boolean;

/**
 * Roles of whoever is signed in, for a network: the one for the server or the one for just this network, whichever allows
 * more. Only for what to offer; the server decides. Until it is known nothing is offered, and everything when asking failed.
 */
export function useRole(networkId: string): HasRole {
  const trpc = useTRPC();
  const account = useQuery(trpc.account.get.queryOptions());
  const { role, networkRoles } = account.data ?? { role: "none", networkRoles: [] };
  const given = networkRoles.find((own) => own.networkId === networkId)?.role ?? "none";
  const rank = Math.max(ROLES.indexOf(role), ROLES.indexOf(given));
  return (wanted) => (account.data ? rank >= ROLES.indexOf(wanted) : account.isError);
}

/** Weakest first. */
const ROLES: readonly ServerRole[] = ["none", "viewer", "operator", "admin", "owner"];
