import type { Scope } from "../../api/types.ts";

/** What a token can be allowed to touch. */
export type ScopeResource = Scope extends `${infer Resource}:${"read" | "write"}` ? Resource : never;

/** `write` includes `read`. */
export type ScopeLevel = "none" | "read" | "write";

export type ScopeLevels = Readonly<Record<ScopeResource, ScopeLevel>>;

/** Nothing allowed yet. */
export const NO_SCOPES: ScopeLevels = {
  networks: "none",
  peers: "none",
  keys: "none",
  policies: "none",
  routes: "none",
  dns: "none",
  profiles: "none",
  gateways: "none",
  users: "none",
  tokens: "none",
  webhooks: "none",
  audit: "none",
  flows: "none",
  metrics: "none",
  jobs: "none",
  settings: "none",
  backups: "none",
};

export const SCOPE_LEVELS: readonly ScopeLevel[] = ["none", "read", "write"];

/** All resources, in the order in which they are shown. */
export const SCOPE_RESOURCES: readonly ScopeResource[] = [
  "networks",
  "peers",
  "keys",
  "policies",
  "routes",
  "dns",
  "profiles",
  "gateways",
  "jobs",
  "flows",
  "metrics",
  "audit",
  "webhooks",
  "users",
  "tokens",
  "settings",
  "backups",
];

/** The scopes that grant the chosen levels. */
export function scopesOf(levels: ScopeLevels): Scope[] {
  return SCOPE_RESOURCES.flatMap((resource): Scope[] => {
    const level = levels[resource];
    return level === "none" ? [] : [`${resource}:${level}`];
  });
}
