import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { EnrolmentKey } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Card } from "../../../ui/card.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useNotify } from "../../../ui/notice.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel, StaleNote } from "../../../ui/panels.tsx";
import { EnrolmentKeysTable } from "./enrolment-keys-table.tsx";

/** Enrolment keys with their use and expiry; revoking one keeps the peers that joined with it. */
export function EnrolmentKeysCard({ networkId }: { readonly networkId: string }): ReactNode {
  const text = pageStrings.settings.keys;
  const trpc = useTRPC();
  const keys = useQuery(trpc.enrolmentKeys.list.queryOptions({ networkId, limit: 100 }));
  const [revoking, setRevoking] = useState<EnrolmentKey | null>(null);
  const retry = (): void => void keys.refetch();
  const items = keys.data?.items;

  return (
    <Card title={text.title} hint={text.hint} body="flush">
      {keys.isError && items ? <StaleNote onRetry={retry}>{strings.common.staleRows}</StaleNote> : null}
      {!items && keys.error ? (
        <ProblemPanel problem={toProblem(keys.error)} onRetry={retry} />
      ) : !items ? (
        <LoadingPanel label={text.loading} />
      ) : items.length === 0 ? (
        <EmptyPanel title={text.empty} />
      ) : (
        <EnrolmentKeysTable keys={items} onRevoke={setRevoking} />
      )}
      {revoking ? <RevokeKeyDialog enrolmentKey={revoking} onClose={() => setRevoking(null)} /> : null}
    </Card>
  );
}

type RevokeKeyDialogProps = { readonly enrolmentKey: EnrolmentKey; readonly onClose: () => void };

function RevokeKeyDialog({ enrolmentKey, onClose }: RevokeKeyDialogProps): ReactNode {
  const text = pageStrings.settings.keys;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const revoke = useMutation(trpc.enrolmentKeys.revoke.mutationOptions());
  const confirm = (): void =>
    revoke.mutate(
      { enrolmentKeyId: enrolmentKey.id },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({ queryKey: trpc.enrolmentKeys.list.queryKey() });
          notify(text.revoked);
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      title={text.revokeLabel(enrolmentKey.hint)}
      consequences={text.revokeConsequences}
      action={text.revokeLabel(enrolmentKey.hint)}
      state={{ isPending: revoke.isPending, problem: revoke.error ? toProblem(revoke.error) : null }}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}
