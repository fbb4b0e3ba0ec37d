import { type ReactNode, useState } from "react";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { RemovePeerDialog } from "../dialogs/lazy-dialogs.tsx";

/** What cannot be undone, at the end of the page. */
export function PeerDanger({ peer, onRemoved }: { readonly peer: Peer; readonly onRemoved: () => void }): ReactNode {
  const text = strings.peers;
  const [dialog, setDialog] = useState<"closed" | "remove">("closed");
  const close = (): void => setDialog("closed");
  return (
    <Card
      title={text.removeTitle(peer.name)}
      hint={text.removeConsequences(peer.name)}
      tone="danger"
      actions={
        <Button look="danger" icon="trash" onPress={() => setDialog("remove")}>
          {text.remove}
        </Button>
      }
    >
      {dialog === "remove" ? <RemovePeerDialog peer={peer} onClose={close} onRemoved={onRemoved} /> : null}
    </Card>
  );
}
