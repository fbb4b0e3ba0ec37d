import type { ReactNode } from "react";
import type { RouteConflict } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Status } from "../../../ui/status.tsx";

/** What else has addresses of a range; nothing when nothing has. */
export function Conflicts({ conflicts }: { readonly conflicts: readonly RouteConflict[] }): ReactNode {
  if (conflicts.length === 0) return null;
  return (
    <ul className="addresses wraps" aria-label={pageStrings.routes.form.warnings}>
      {conflicts.map(({ kind, prefix, routeId, warning }) => (
        <li key={`${kind} ${prefix} ${routeId ?? ""}`}>
          <Status kind="warn">{warning}</Status>
        </li>
      ))}
    </ul>
  );
}
