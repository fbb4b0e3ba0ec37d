import { access } from "./en/access.ts";
import { audit } from "./en/audit.ts";
import { expirations } from "./en/expirations.ts";
import { diagnose } from "./en/diagnose.ts";
import { domain, names, records, servers } from "./en/names.ts";
import { policy } from "./en/policy.ts";
import { approvers, exits, routes } from "./en/routes.ts";
import { settings } from "./en/settings.ts";
import { setup } from "./en/setup.ts";

/** English texts of pages that few people open: they come with the page, not with the frame. */
export const enPages = {
  access,
  approvers,
  audit,
  diagnose,
  domain,
  exits,
  expirations,
  names,
  policy,
  records,
  routes,
  servers,
  settings,
  setup,
};
