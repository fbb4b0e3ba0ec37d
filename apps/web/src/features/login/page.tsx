import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import { useProviderLogin } from "../../api/use-provider-login.ts";
import { Logo } from "../../layout/logo.tsx";
import { paths, routeIds } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { Button } from "../../ui/button.tsx";
import { Gate } from "../../ui/gate.tsx";
import { ProblemPanel, StaleNote } from "../../ui/panels.tsx";
import { PasswordField } from "../../ui/password-field.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { loginBounces } from "./login-bounces.ts";

const route = getRouteApi(routeIds.login);

/** Signs in with the local account. A second return without a session is explained instead of repeated. */
export function LoginPage(): ReactNode {
  const text = strings.login;
  const { next } = route.useSearch();
  const form = useLogin(next ?? paths.home);
  const [bounces] = useState(() => loginBounces.read());
  // Without an answer there are no buttons, and the password works all the same.
  const methods = useQuery(useTRPC().identityProviders.offered.queryOptions());
  const provider = useProviderLogin();
  const error = form.error ?? provider.error;

  return (
    <Gate mark={<Logo size={44} />} title={text.title}>
      <form className="form" onSubmit={form.submit}>
        {bounces >= 2 ? <StaleNote>{text.loop}</StaleNote> : null}
        <TextField
          label={text.login}
          value={form.login}
          onChange={form.setLogin}
          name="username"
          autoComplete="username"
          isRequired
          focus="first"
        />
        <PasswordField
          label={text.password}
          value={form.password}
          onChange={form.setPassword}
          name="password"
          autoComplete="current-password"
          isRequired
        />
        {form.asksCode ? (
          <TextField
            label={text.code}
            hint={text.codeHint}
            value={form.code}
            onChange={form.setCode}
            name="code"
            autoComplete="one-time-code"
            isRequired
            focus="first"
            maxLength={40}
          />
        ) : null}
        {error ? <ProblemPanel problem={toProblem(error)} /> : null}
        <Button type="submit" look="primary" isPending={form.isPending}>
          {text.submit}
        </Button>
        {methods.data?.providers.map(({ id, name }) => (
          <Button
            key={id}
            isPending={provider.isPending}
            onPress={() => provider.start(id, { next: next ?? null, invite: null })}
          >
            {text.with(name)}
          </Button>
        ))}
      </form>
    </Gate>
  );
}

/** The fields and what happens to them. The code is asked for after the server said that the account needs one. */
function useLogin(next: string) {
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [login, setLogin] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [asksCode, setAsksCode] = useState(false);
  const start = useMutation(trpc.sessions.login.mutationOptions());
  const isAsked = start.error !== null && toProblem(start.error).code === "second_factor_needed";
  if (isAsked && !asksCode) setAsksCode(true);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    start.mutate(
      { login: login.trim(), password, ...(asksCode ? { code: code.trim() } : {}) },
      {
        onSuccess: () => {
          loginBounces.count();
          // The session is asked for again on the way, so that a refused cookie shows here and not later.
          queryClient.removeQueries({ queryKey: trpc.sessions.current.queryKey() });
          router.history.push(next);
        },
      },
    );
  };
  const error = isAsked ? null : start.error;
  return { login, setLogin, password, setPassword, code, setCode, asksCode, error, isPending: start.isPending, submit };
}
