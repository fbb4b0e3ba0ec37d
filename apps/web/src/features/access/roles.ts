import type { ServerRole } from "../../api/types.ts";
import { pageStrings } from "../../strings/pages.ts";

const ROLES: readonly ServerRole[] = ["none", "viewer", "operator", "admin", "owner"];

/** Roles as a list to choose from, weakest first. */
export const ROLE_OPTIONS = ROLES.map((value) => ({ value, label: pageStrings.access.roles[value] }));
