import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { PasswordField } from "../../../ui/password-field.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { QrCode } from "../../../ui/qr-code.tsx";

/** Switches the second factor on: password, QR code and first code, recovery codes. */
export function SetUpFactorDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = pageStrings.access.account;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const begin = useMutation(trpc.account.beginTotp.mutationOptions());
  const confirm = useMutation(trpc.account.confirmTotp.mutationOptions());
  const finish = (): void => {
    void queryClient.invalidateQueries({ queryKey: trpc.account.get.queryKey() });
    onClose();
  };

  return (
    <Dialog title={text.turnOn} onClose={confirm.data ? finish : onClose} dismiss="explicit">
      {confirm.data ? (
        <RecoveryCodes codes={confirm.data.recoveryCodes} onDone={finish} />
      ) : begin.data ? (
        <CodeStep
          {...begin.data}
          isPending={confirm.isPending}
          error={confirm.error}
          onCode={(code) => confirm.mutate({ code })}
        />
      ) : (
        <PasswordStep
          isPending={begin.isPending}
          error={begin.error}
          onPassword={(password) => begin.mutate({ password })}
        />
      )}
    </Dialog>
  );
}

type StepProps = { readonly isPending: boolean; readonly error: unknown };

function PasswordStep({
  isPending,
  error,
  onPassword,
}: StepProps & { readonly onPassword: (password: string) => void }): ReactNode {
  const text = pageStrings.access.account;
  const [password, setPassword] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onPassword(password);
  };
  return (
    <form className="form" onSubmit={submit}>
      <PasswordField
        label={text.password}
        value={password}
        onChange={setPassword}
        autoComplete="current-password"
        isRequired
        focus="first"
      />
      {error ? <ProblemPanel problem={toProblem(error)} /> : null}
      <DialogActions>
        <Button type="submit" look="primary" isPending={isPending}>
          {text.next}
        </Button>
      </DialogActions>
    </form>
  );
}

function CodeStep({
  secret,
  uri,
  isPending,
  error,
  onCode,
}: StepProps & {
  readonly secret: string;
  readonly uri: string;
  readonly onCode: (code: string) => void;
}): ReactNode {
  const text = pageStrings.access.account;
  const [code, setCode] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onCode(code.trim());
  };
  return (
    <form className="form" onSubmit={submit}>
      <p>{text.scan}</p>
      <QrCode text={uri} label={text.qrLabel} />
      <div className="join-box">
        <code className="join-command" aria-label={text.secret}>
          {secret}
        </code>
        <CopyButton text={secret} what={text.secret} />
      </div>
      <TextField
        label={strings.login.code}
        value={code}
        onChange={setCode}
        inputMode="numeric"
        autoComplete="one-time-code"
        isRequired
        focus="first"
        minLength={6}
        maxLength={7}
      />
      {error ? <ProblemPanel problem={toProblem(error)} /> : null}
      <DialogActions>
        <Button type="submit" look="primary" isPending={isPending}>
          {text.turnOn}
        </Button>
      </DialogActions>
    </form>
  );
}

function RecoveryCodes({
  codes,
  onDone,
}: {
  readonly codes: readonly string[];
  readonly onDone: () => void;
}): ReactNode {
  const text = pageStrings.access.account;
  return (
    <>
      <p>{text.codesSentence}</p>
      <ul className="code-list" aria-label={text.codes}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <DialogActions>
        <CopyButton text={codes.join("\n")} what={text.codes} look="secondary" />
        <Button look="primary" onPress={onDone}>
          {text.codesDone}
        </Button>
      </DialogActions>
    </>
  );
}
