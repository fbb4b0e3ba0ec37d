import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { useTRPC } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import { useProviderLogin } from "../../api/use-provider-login.ts";
import { PASSWORD_LENGTH_MIN } from "../../format/password-strength.ts";
import { Logo } from "../../layout/logo.tsx";
import { paths } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Button } from "../../ui/button.tsx";
import { Gate } from "../../ui/gate.tsx";
import { LoadingPanel, ProblemPanel } from "../../ui/panels.tsx";
import { PasswordField } from "../../ui/password-field.tsx";
import { TextField } from "../../ui/text-field.tsx";

/** Makes an account from a one-time link; its secret stands behind the `#` and never leaves in an address. */
export function InvitePage(): ReactNode {
  const text = strings.invite;
  const trpc = useTRPC();
  const router = useRouter();
  const [secret] = useState(() => router.history.location.hash.replace(/^#/, ""));
  const look = useMutation(trpc.invites.look.mutationOptions());
  const { mutate } = look;
  useEffect(() => mutate({ secret }), [mutate, secret]);

  return (
    <Gate
      mark={<Logo size={44} />}
      title={text.title}
      {...(look.data ? { sentence: text.sentence(pageStrings.access.roles[look.data.role]) } : {})}
    >
      {look.error ? <ProblemPanel problem={toProblem(look.error)} /> : null}
      {look.isPending || look.isIdle ? <LoadingPanel label={text.looking} /> : null}
      {look.data ? <AcceptForm secret={secret} login={look.data.login} /> : null}
    </Gate>
  );
}

function AcceptForm({ secret, login }: { readonly secret: string; readonly login: string | null }): ReactNode {
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [name, setName] = useState(login ?? "");
  const [password, setPassword] = useState("");
  const accept = useMutation(trpc.invites.accept.mutationOptions());
  const methods = useQuery(trpc.identityProviders.offered.queryOptions());
  const provider = useProviderLogin();
  const error = accept.error ?? provider.error;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    accept.mutate(
      { secret, login: name.trim(), password },
      {
        onSuccess: ({ user }) => {
          queryClient.setQueryData(trpc.sessions.current.queryKey(), { user });
          router.history.replace(paths.home);
        },
      },
    );
  };

  return (
    <form className="form" onSubmit={submit}>
      <TextField
        label={strings.login.login}
        value={name}
        onChange={setName}
        name="username"
        autoComplete="username"
        isRequired
        isReadOnly={login !== null}
        maxLength={100}
      />
      <PasswordField
        label={strings.login.password}
        value={password}
        onChange={setPassword}
        name="new-password"
        autoComplete="new-password"
        isRequired
        minLength={PASSWORD_LENGTH_MIN}
        maxLength={1000}
      />
      {error ? <ProblemPanel problem={toProblem(error)} /> : null}
      <Button type="submit" look="primary" isPending={accept.isPending}>
        {strings.invite.submit}
      </Button>
      {methods.data?.providers.map((offered) => (
        <Button
          key={offered.id}
          isPending={provider.isPending}
          onPress={() => provider.start(offered.id, { next: null, invite: secret })}
        >
          {strings.login.with(offered.name)}
        </Button>
      ))}
    </form>
  );
}
