/** Who may call an operation; the same row feeds REST, tRPC, OpenAPI and the permission matrix. */
export type Access =
  | { readonly kind: "public" }
  | { readonly kind: "signed-in"; readonly scope: Scope }
  | { readonly kind: "role"; readonly role: Role; readonly scope: Scope };

/** Roles from the weakest to the strongest; each may do everything the ones before it may. */
export const ROLES = ["viewer", "operator", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

export const SCOPE_RESOURCES = ["networks", "peers", "keys", "policies", "tokens", "jobs", "settings"] as const;
export type Scope = `${(typeof SCOPE_RESOURCES)[number]}:${"read" | "write"}`;

/** True when `role` has at least the rights of `needed`. */
export function roleCovers(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** True when one of `scopes` is `needed`, or is the write form of the read scope that is needed. */
export function scopesCover(scopes: readonly Scope[], needed: Scope): boolean {
  if (scopes.includes(needed)) return true;
  const [resource, verb] = needed.split(":");
  return verb === "read" && scopes.some((scope) => scope === `${resource}:write`);
}
