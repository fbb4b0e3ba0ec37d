import { type ReactNode, useState } from "react";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { PeerExpiryDialog } from "../dialogs/lazy-dialogs.tsx";

/** How long the peer stays a member, and the way to change it. */
export function PeerMembership({ peer }: { readonly peer: Peer }): ReactNode {
  const text = strings.peer.expiry;
  const [dialog, setDialog] = useState<"closed" | "expiry">("closed");
  return (
    <Card title={text.title} actions={<Button onPress={() => setDialog("expiry")}>{text.set}</Button>}>
      {peer.expiresAt === null ? (
        text.never
      ) : (
        <>
          {peer.state === "expired" ? text.ended : text.ends} <Moment at={peer.expiresAt} />
        </>
      )}
      {dialog === "expiry" ? <PeerExpiryDialog peer={peer} onClose={() => setDialog("closed")} /> : null}
    </Card>
  );
}
