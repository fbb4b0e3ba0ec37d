import type { ReactNode } from "react";
import { Tooltip } from "react-aria-components/Tooltip";

/** The small box a tooltip trigger shows on hover and focus. */
export function Tip({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <Tooltip className="tip" offset={6}>
      {children}
    </Tooltip>
  );
}
