import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useNotify } from "../../../ui/notice.tsx";

export type RemovePeerDialogProps = {
  readonly peer: Peer;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
};

/** Removes a peer after its name was typed. */
export function RemovePeerDialog({ peer, onClose, onRemoved }: RemovePeerDialogProps): ReactNode {
  const text = strings.peers;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const remove = useMutation(trpc.peers.remove.mutationOptions());

  const confirm = (): void =>
    remove.mutate(
      { peerId: peer.id },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({ queryKey: trpc.peers.list.queryKey() });
          notify(text.removed(peer.name));
          onRemoved();
        },
      },
    );

  return (
    <ConfirmDialog
      title={text.removeTitle(peer.name)}
      consequences={text.removeConsequences(peer.name)}
      nameToType={peer.name}
      action={text.removeAction(peer.name)}
      state={{ isPending: remove.isPending, problem: remove.error ? toProblem(remove.error) : null }}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}
