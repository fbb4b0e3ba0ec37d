import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Chip } from "../../../ui/chip.tsx";
import { LoadingPanel, ProblemPanel } from "../../../ui/panels.tsx";
import { SessionsTable } from "../components/sessions-table.tsx";
import { RemoveFactorDialog } from "../dialogs/remove-factor-dialog.tsx";
import { SetUpFactorDialog } from "../dialogs/set-up-factor-dialog.tsx";

/** One's own account: the second factor, and the browsers that are signed in. */
export function AccountView(): ReactNode {
  return (
    <>
      <SecondFactorCard />
      <SessionsCard />
    </>
  );
}

function SecondFactorCard(): ReactNode {
  const text = pageStrings.access.account;
  const trpc = useTRPC();
  const account = useQuery(trpc.account.get.queryOptions());
  const [dialog, setDialog] = useState<"set-up" | "remove" | null>(null);
  const close = (): void => setDialog(null);

  return (
    <Card title={text.factor} hint={text.factorHint}>
      {account.error && !account.data ? (
        <ProblemPanel problem={toProblem(account.error)} onRetry={() => void account.refetch()} />
      ) : !account.data ? (
        <LoadingPanel label={text.loading} />
      ) : account.data.hasSecondFactor ? (
        <div className="row-line">
          <Chip tone="good">{text.on}</Chip>
          <span>{text.codesLeft(account.data.recoveryCodesLeft)}</span>
          <Button onPress={() => setDialog("remove")}>{text.turnOff}</Button>
        </div>
      ) : account.data.hasPassword ? (
        <Button look="primary" onPress={() => setDialog("set-up")}>
          {text.turnOn}
        </Button>
      ) : (
        <p>{text.noPassword}</p>
      )}
      {dialog === "set-up" ? <SetUpFactorDialog onClose={close} /> : null}
      {dialog === "remove" ? <RemoveFactorDialog onClose={close} /> : null}
    </Card>
  );
}

function SessionsCard(): ReactNode {
  const text = pageStrings.access.account;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const me = useQuery(trpc.sessions.current.queryOptions());
  const userId = me.data?.user.id;
  const sessions = useQuery({
    ...trpc.sessions.list.queryOptions({ limit: 100, ...(userId === undefined ? {} : { userId }) }),
    enabled: userId !== undefined,
  });
  const onSuccess = (): void => void queryClient.invalidateQueries({ queryKey: trpc.sessions.list.queryKey() });
  const revoke = useMutation({ ...trpc.sessions.revoke.mutationOptions(), onSuccess });
  const revokeOthers = useMutation({ ...trpc.sessions.revokeOthers.mutationOptions(), onSuccess });
  const error = sessions.error ?? revoke.error ?? revokeOthers.error;

  return (
    <Card
      title={text.sessions}
      hint={text.sessionsHint}
      body="flush"
      actions={
        <Button isPending={revokeOthers.isPending} onPress={() => revokeOthers.mutate()}>
          {text.endOthers}
        </Button>
      }
    >
      {error ? <ProblemPanel problem={toProblem(error)} onRetry={() => void sessions.refetch()} /> : null}
      {sessions.data ? (
        <SessionsTable sessions={sessions.data.items} onEnd={(session) => revoke.mutate({ sessionId: session.id })} />
      ) : (
        <LoadingPanel label={text.loadingSessions} />
      )}
    </Card>
  );
}
