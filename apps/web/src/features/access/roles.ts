import type { ServerRole } from "../../api/types.ts";
import { strings } from "../../strings/index.ts";

const ROLES: readonly ServerRole[] = ["none", "viewer", "operator", "admin", "owner"];

/** Roles as a list to choose from, weakest first. */
export const ROLE_OPTIONS = ROLES.map((value) => ({ value, label: strings.access.roles[value] }));
