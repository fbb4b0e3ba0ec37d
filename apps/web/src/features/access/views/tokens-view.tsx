import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Token } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel, StaleNote } from "../../../ui/panels.tsx";
import { TokensTable } from "../components/tokens-table.tsx";
import { CreateTokenDialog } from "../dialogs/create-token-dialog.tsx";
import { RevokeTokenDialog } from "../dialogs/revoke-token-dialog.tsx";
import { OnceDialog } from "../dialogs/once-dialog.tsx";

/** What is open above the list. */
type OpenDialog =
  | { readonly kind: "create" }
  | { readonly kind: "once"; readonly secret: string }
  | { readonly kind: "revoke"; readonly token: Token }
  | null;

/** API tokens: list, create, revoke. */
export function TokensView(): ReactNode {
  const text = pageStrings.access;
  const trpc = useTRPC();
  const tokens = useQuery(trpc.tokens.list.queryOptions({ limit: 500 }));
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const close = (): void => setDialog(null);
  const retry = (): void => void tokens.refetch();
  const items = tokens.data?.items;

  return (
    <Card
      title={text.table}
      hint={text.tokensHint}
      body="flush"
      actions={
        <Button look="primary" icon="plus" onPress={() => setDialog({ kind: "create" })}>
          {text.create}
        </Button>
      }
    >
      {tokens.isError && items ? <StaleNote onRetry={retry}>{strings.common.staleRows}</StaleNote> : null}
      {!items && tokens.error ? (
        <ProblemPanel problem={toProblem(tokens.error)} onRetry={retry} />
      ) : !items ? (
        <LoadingPanel label={text.loading} />
      ) : items.length === 0 ? (
        <EmptyPanel title={text.empty}>{text.emptyHint}</EmptyPanel>
      ) : (
        <TokensTable tokens={items} onRevoke={(token) => setDialog({ kind: "revoke", token })} />
      )}
      {dialog?.kind === "create" ? (
        <CreateTokenDialog onClose={close} onCreated={(secret) => setDialog({ kind: "once", secret })} />
      ) : null}
      {dialog?.kind === "once" ? (
        <OnceDialog
          title={text.onceTitle}
          sentence={text.once}
          what={text.tokenWhat}
          secret={dialog.secret}
          onClose={close}
        />
      ) : null}
      {dialog?.kind === "revoke" ? <RevokeTokenDialog token={dialog.token} onClose={close} /> : null}
    </Card>
  );
}
