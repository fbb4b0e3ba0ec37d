import type { ReactNode } from "react";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Status } from "../../../ui/status.tsx";

/** What the agent says needs a person on its host; nothing when all is well. */
export function PeerProblems({ peer }: { readonly peer: Peer }): ReactNode {
  if (peer.problems.length === 0) return null;
  return (
    <section aria-label={strings.peer.problems}>
      <ul className="attention">
        {peer.problems.map((problem) => (
          <li key={problem} className="attention-item attention-warn">
            <Status kind="warn">{problem}</Status>
          </li>
        ))}
      </ul>
    </section>
  );
}
