import type { ReactNode } from "react";
import { strings } from "../strings/index.ts";
import { Icon } from "./icon.tsx";

/** Received and sent, in their colours and with their arrows. */
export function RateFigures({ rx, tx }: { readonly rx: string; readonly tx: string }): ReactNode {
  return (
    <span className="rate-figures">
      <span className="rate rate-rx" title={strings.common.received}>
        <Icon name="down" size={12} />
        <span className="visually-hidden">{strings.common.received} </span>
        {rx}
      </span>
      <span className="rate rate-tx" title={strings.common.sent}>
        <Icon name="up" size={12} />
        <span className="visually-hidden">{strings.common.sent} </span>
        {tx}
      </span>
    </span>
  );
}
