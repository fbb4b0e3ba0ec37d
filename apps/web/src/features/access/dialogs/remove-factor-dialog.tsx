import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { PasswordField } from "../../../ui/password-field.tsx";
import { TextField } from "../../../ui/text-field.tsx";

/** Switches the second factor off, with both secrets in hand. */
export function RemoveFactorDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = pageStrings.access.account;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const remove = useMutation(trpc.account.removeTotp.mutationOptions());
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    remove.mutate(
      { password, code: code.trim() },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({ queryKey: trpc.account.get.queryKey() });
          onClose();
        },
      },
    );
  };
  return (
    <Dialog title={text.turnOff} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <PasswordField
          label={text.password}
          value={password}
          onChange={setPassword}
          autoComplete="current-password"
          isRequired
          focus="first"
        />
        <TextField
          label={strings.login.code}
          hint={strings.login.codeHint}
          value={code}
          onChange={setCode}
          autoComplete="one-time-code"
          isRequired
          maxLength={40}
        />
        {remove.error ? <ProblemPanel problem={toProblem(remove.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="danger" isPending={remove.isPending}>
            {text.turnOff}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
