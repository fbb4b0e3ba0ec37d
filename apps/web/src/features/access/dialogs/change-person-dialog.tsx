import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Account } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { useNotify } from "../../../ui/notice.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { Select } from "../../../ui/select.tsx";
import { ROLE_OPTIONS } from "../roles.ts";

export type ChangePersonDialogProps = { readonly person: Account; readonly onClose: () => void };

/** Role, access and second factor of one person. */
export function ChangePersonDialog({ person, onClose }: ChangePersonDialogProps): ReactNode {
  const text = pageStrings.access.people;
  const [role, setRole] = useState(person.role);
  const [isRemoving, setRemoving] = useState(false);
  const changes = usePersonChanges(person, onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    changes.update.mutate({ userId: person.id, role });
  };
  const { error } = changes;

  if (isRemoving) {
    return (
      <ConfirmDialog
        title={text.removeTitle(person.login)}
        consequences={text.removeConsequences}
        action={text.removeTitle(person.login)}
        state={{ isPending: changes.isPending, problem: error ? toProblem(error) : null }}
        onConfirm={() => changes.remove.mutate({ userId: person.id })}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title={text.changeTitle(person.login)} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Select label={text.columns.role} value={role} onChange={setRole} options={ROLE_OPTIONS} />
        <div className="dialog-actions">
          {person.state === "active" ? (
            <Button onPress={() => changes.disable.mutate({ userId: person.id })}>{text.disable}</Button>
          ) : (
            <Button onPress={() => changes.enable.mutate({ userId: person.id })}>
              {person.state === "waiting" ? text.approve : text.enable}
            </Button>
          )}
          {person.hasSecondFactor ? (
            <Button onPress={() => changes.resetMfa.mutate({ userId: person.id })}>{text.resetMfa}</Button>
          ) : null}
          <Button look="danger" onPress={() => setRemoving(true)}>
            {text.remove}
          </Button>
        </div>
        {error ? <ProblemPanel problem={toProblem(error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={changes.isPending}>
            {strings.common.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function usePersonChanges(person: Account, onClose: () => void) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const onSuccess = (): void => {
    void queryClient.invalidateQueries({ queryKey: trpc.users.list.queryKey() });
    notify(pageStrings.access.people.changed(person.login));
    onClose();
  };
  const update = useMutation({ ...trpc.users.update.mutationOptions(), onSuccess });
  const disable = useMutation({ ...trpc.users.disable.mutationOptions(), onSuccess });
  const enable = useMutation({ ...trpc.users.enable.mutationOptions(), onSuccess });
  const resetMfa = useMutation({ ...trpc.users.resetMfa.mutationOptions(), onSuccess });
  const remove = useMutation({ ...trpc.users.remove.mutationOptions(), onSuccess });
  const all = [update, disable, enable, resetMfa, remove];
  return {
    update,
    disable,
    enable,
    resetMfa,
    remove,
    isPending: all.some((change) => change.isPending),
    error: all.find((change) => change.error)?.error ?? null,
  };
}
