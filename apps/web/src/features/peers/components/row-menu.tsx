import type { ReactNode } from "react";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Icon } from "../../../ui/icon.tsx";
import { Menu } from "../../../ui/menu.tsx";
import type { PeerAction } from "../peer-action.ts";

type RowMenuProps = { readonly peer: Peer; readonly onAction: (action: PeerAction, peer: Peer) => void };

/** What can be done with the peer of a row. */
export function RowMenu({ peer, onAction }: RowMenuProps): ReactNode {
  const text = strings.peers;
  return (
    <Menu
      label={text.actionsFor(peer.name)}
      trigger={<Icon name="more" />}
      actions={[
        { id: "rename", label: text.rename, icon: "pencil", onAction: () => onAction("rename", peer) },
        { id: "groups", label: text.groups.action, icon: "peers", onAction: () => onAction("groups", peer) },
        { id: "remove", label: text.remove, icon: "trash", tone: "danger", onAction: () => onAction("remove", peer) },
      ]}
    />
  );
}
