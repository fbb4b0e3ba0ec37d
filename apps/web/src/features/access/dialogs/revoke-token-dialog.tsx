import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Token } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useNotify } from "../../../ui/notice.tsx";

/** Revokes a token at once. */
export function RevokeTokenDialog({
  token,
  onClose,
}: {
  readonly token: Token;
  readonly onClose: () => void;
}): ReactNode {
  const text = pageStrings.access;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const revoke = useMutation(trpc.tokens.revoke.mutationOptions());
  const confirm = (): void =>
    revoke.mutate(
      { tokenId: token.id },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({ queryKey: trpc.tokens.list.queryKey() });
          notify(text.revoked(token.name));
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      title={text.revokeTitle(token.name)}
      consequences={text.revokeConsequences}
      action={text.revokeTitle(token.name)}
      state={{ isPending: revoke.isPending, problem: revoke.error ? toProblem(revoke.error) : null }}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}
