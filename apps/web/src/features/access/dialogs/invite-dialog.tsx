import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { ServerRole } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { ROLE_OPTIONS } from "../roles.ts";

export type InviteDialogProps = {
  readonly onClose: () => void;
  /** Gets the link, which is shown once. */
  readonly onCreated: (link: string) => void;
};

/** Makes a one-time link for one person. */
export function InviteDialog({ onClose, onCreated }: InviteDialogProps): ReactNode {
  const text = pageStrings.access.people;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [login, setLogin] = useState("");
  const [role, setRole] = useState<ServerRole>("viewer");
  const create = useMutation(trpc.invites.create.mutationOptions());

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const name = login.trim();
    create.mutate(
      { role, ...(name === "" ? {} : { login: name }) },
      {
        onSuccess: ({ link }) => {
          void queryClient.invalidateQueries({ queryKey: trpc.invites.list.queryKey() });
          onCreated(link);
        },
      },
    );
  };

  return (
    <Dialog title={text.inviteTitle} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField
          label={text.columns.login}
          hint={text.loginHint}
          value={login}
          onChange={setLogin}
          maxLength={100}
          autoComplete="off"
          focus="first"
        />
        <Select label={text.columns.role} value={role} onChange={setRole} options={ROLE_OPTIONS} />
        {create.error ? <ProblemPanel problem={toProblem(create.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={create.isPending}>
            {text.submit}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
