/** The only file of this package that others import, and as types only. */
export type { AppRouter } from "./trpc/router-types.ts";
export type { NetworkEvent, PeerEvent } from "./registry/live-events.ts";
export type { PeerView } from "./registry/peer-schemas.ts";
export type { Problem, ProblemItem } from "./http/problem.ts";
export type { Role, Scope, ServerRole } from "./registry/access.ts";
