import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Invite } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";

/** Makes a link useless. */
export function RevokeInviteDialog({
  invite,
  onClose,
}: {
  readonly invite: Invite;
  readonly onClose: () => void;
}): ReactNode {
  const text = pageStrings.access.people;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const revoke = useMutation(trpc.invites.revoke.mutationOptions());
  const title = text.revokeInvite(invite.login ?? text.anyone);
  const confirm = (): void =>
    revoke.mutate(
      { inviteId: invite.id },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({ queryKey: trpc.invites.list.queryKey() });
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      title={title}
      consequences={text.revokeConsequences}
      action={title}
      state={{ isPending: revoke.isPending, problem: revoke.error ? toProblem(revoke.error) : null }}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}
