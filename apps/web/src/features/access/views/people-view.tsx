import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Account, Invite } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel } from "../../../ui/panels.tsx";
import { InvitesTable } from "../components/invites-table.tsx";
import { PeopleTable } from "../components/people-table.tsx";
import { ChangePersonDialog } from "../dialogs/change-person-dialog.tsx";
import { InviteDialog } from "../dialogs/invite-dialog.tsx";
import { OnceDialog } from "../dialogs/once-dialog.tsx";
import { RevokeInviteDialog } from "../dialogs/revoke-invite-dialog.tsx";

/** What is open above the lists. */
type OpenDialog =
  | { readonly kind: "invite" }
  | { readonly kind: "once"; readonly link: string }
  | { readonly kind: "person"; readonly person: Account }
  | { readonly kind: "revoke"; readonly invite: Invite }
  | null;

/** The people who may sign in, and the invites that are under way. */
export function PeopleView(): ReactNode {
  const text = pageStrings.access.people;
  const trpc = useTRPC();
  const people = useQuery(trpc.users.list.queryOptions({ limit: 500 }));
  const invites = useQuery({ ...trpc.invites.list.queryOptions({ limit: 100 }), retry: false });
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const close = (): void => setDialog(null);
  const open = invites.data?.items.filter(({ state }) => state === "open") ?? [];

  return (
    <>
      <Card
        title={text.title}
        hint={text.hint}
        body="flush"
        actions={
          <Button look="primary" icon="plus" onPress={() => setDialog({ kind: "invite" })}>
            {text.invite}
          </Button>
        }
      >
        {people.error && !people.data ? (
          <ProblemPanel problem={toProblem(people.error)} onRetry={() => void people.refetch()} />
        ) : !people.data ? (
          <LoadingPanel label={text.loading} />
        ) : (
          <PeopleTable people={people.data.items} onChange={(person) => setDialog({ kind: "person", person })} />
        )}
      </Card>
      <Card title={text.invites} body="flush">
        {open.length === 0 ? (
          <EmptyPanel title={text.noInvites} />
        ) : (
          <InvitesTable invites={open} onRevoke={(invite) => setDialog({ kind: "revoke", invite })} />
        )}
      </Card>
      {dialog?.kind === "invite" ? (
        <InviteDialog onClose={close} onCreated={(link) => setDialog({ kind: "once", link })} />
      ) : null}
      {dialog?.kind === "once" ? (
        <OnceDialog
          title={text.onceTitle}
          sentence={text.once}
          what={text.linkWhat}
          secret={dialog.link}
          onClose={close}
        />
      ) : null}
      {dialog?.kind === "person" ? <ChangePersonDialog person={dialog.person} onClose={close} /> : null}
      {dialog?.kind === "revoke" ? <RevokeInviteDialog invite={dialog.invite} onClose={close} /> : null}
    </>
  );
}
