import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import { PASSWORD_LENGTH_MIN } from "../../../format/password-strength.ts";
import { paths } from "../../../routes.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { PasswordField } from "../../../ui/password-field.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { StrengthMeter } from "./strength-meter.tsx";

export type OwnerFormProps = {
  /** The token of the printed link. */
  readonly token: string | null;
  /** `ask` shows a fourth field: the server wants a token and the address had none. */
  readonly tokenNeed: "ask" | "known";
};

/** The three fields of the first run. */
export function OwnerForm({ token, tokenNeed }: OwnerFormProps): ReactNode {
  const text = pageStrings.setup;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [login, setLogin] = useState("");
  const [password, setPassword] = useState("");
  const [networkName, setNetworkName] = useState(text.defaultNetwork);
  const [typedToken, setTypedToken] = useState("");
  const create = useMutation(trpc.setup.createOwner.mutationOptions());

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const setupToken = token ?? typedToken.trim();
    create.mutate(
      { login: login.trim(), password, networkName: networkName.trim(), ...(setupToken ? { setupToken } : {}) },
      {
        onSuccess: async ({ user, network }) => {
          queryClient.setQueryData(trpc.sessions.current.queryKey(), { user });
          queryClient.removeQueries({ queryKey: trpc.setup.status.queryKey() });
          await navigate({ to: paths.peers, params: { networkId: network.id }, replace: true });
        },
      },
    );
  };

  return (
    <form className="form" onSubmit={submit}>
      <TextField
        label={text.login}
        value={login}
        onChange={setLogin}
        name="username"
        autoComplete="username"
        isRequired
        focus="first"
        maxLength={100}
      />
      <PasswordField
        label={text.password}
        value={password}
        onChange={setPassword}
        name="new-password"
        autoComplete="new-password"
        isRequired
        minLength={PASSWORD_LENGTH_MIN}
        maxLength={1000}
        hint={<StrengthMeter password={password} />}
      />
      <TextField
        label={text.networkName}
        value={networkName}
        onChange={setNetworkName}
        isRequired
        maxLength={63}
        hint={text.networkHint}
        autoComplete="off"
      />
      {tokenNeed === "ask" ? (
        <TextField
          label={text.token}
          value={typedToken}
          onChange={setTypedToken}
          isRequired
          hint={text.tokenHint}
          face="mono"
          autoComplete="off"
        />
      ) : null}
      {create.error ? <ProblemPanel problem={toProblem(create.error)} /> : null}
      <Button type="submit" look="primary" isPending={create.isPending}>
        {text.submit}
      </Button>
    </form>
  );
}
