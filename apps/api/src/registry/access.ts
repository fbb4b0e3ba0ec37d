/** Who may call an operation; the same row feeds REST, tRPC, OpenAPI and the permission matrix. */
export type Access =
  | { readonly kind: "public" }
  | { readonly kind: "signed-in"; readonly scope: Scope }
  | {
      readonly kind: "role";
      /** The weakest role that may, on the whole server or in the network that the call is about. */
      readonly role: Role;
      readonly scope: Scope;
      /** Operators who were given this may as well, whatever `role` says. */
      readonly grant?: Grant;
      /** Whoever has a role in any network may as well; the operation leaves out what they may not see. */
      readonly members?: "too";
    };

/** Roles from the weakest to the strongest; each may do everything the ones before it may. */
export const ROLES = ["viewer", "operator", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

/** What somebody is on the whole server; `none` has only the roles that single networks gave. */
export const SERVER_ROLES = ["none", ...ROLES] as const;
export type ServerRole = (typeof SERVER_ROLES)[number];

/** Rights that can be given to single operators: stack samples and debug bundles. */
export const GRANTS = ["diagnostics"] as const;
export type Grant = (typeof GRANTS)[number];

/** A role that holds in one network. */
export type NetworkRole = { readonly networkId: string; readonly role: Role };

export const SCOPE_RESOURCES = [
  "networks",
  "peers",
  "keys",
  "policies",
  "routes",
  "dns",
  "profiles",
  "gateways",
  "users",
  "tokens",
  "webhooks",
  "audit",
  "flows",
  "metrics",
  "jobs",
  "settings",
  "backups",
] as const;
export type Scope = `${(typeof SCOPE_RESOURCES)[number]}:${"read" | "write"}`;

/** True when `role` has at least the rights of `needed`. */
export function roleCovers(role: ServerRole, needed: ServerRole): boolean {
  return SERVER_ROLES.indexOf(role) >= SERVER_ROLES.indexOf(needed);
}

/** The stronger of two roles. */
export function strongerRole(left: ServerRole, right: ServerRole): ServerRole {
  return roleCovers(left, right) ? left : right;
}

/** True when one of `scopes` is `needed`, or is the write form of the read scope that is needed. Nothing else matches. */
export function scopesCover(scopes: readonly Scope[], needed: Scope): boolean {
  if (scopes.includes(needed)) return true;
  const [resource, verb] = needed.split(":");
  return verb === "read" && scopes.some((scope) => scope === `${resource}:write`);
}
