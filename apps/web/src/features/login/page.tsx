import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
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
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const { next } = route.useSearch();
  const [login, setLogin] = useState("");
  const [password, setPassword] = useState("");
  const [bounces] = useState(() => loginBounces.read());
  const start = useMutation(trpc.sessions.login.mutationOptions());

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    start.mutate(
      { login: login.trim(), password },
      {
        onSuccess: () => {
          loginBounces.count();
          // The session is asked for again on the way, so that a refused cookie shows here and not later.
          queryClient.removeQueries({ queryKey: trpc.sessions.current.queryKey() });
          router.history.push(next ?? paths.home);
        },
      },
    );
  };

  return (
    <Gate mark={<Logo size={44} />} title={text.title}>
      <form className="form" onSubmit={submit}>
        {bounces >= 2 ? <StaleNote>{text.loop}</StaleNote> : null}
        <TextField
          label={text.login}
          value={login}
          onChange={setLogin}
          name="username"
          autoComplete="username"
          isRequired
          focus="first"
        />
        <PasswordField
          label={text.password}
          value={password}
          onChange={setPassword}
          name="password"
          autoComplete="current-password"
          isRequired
        />
        {start.error ? <ProblemPanel problem={toProblem(start.error)} /> : null}
        <Button type="submit" look="primary" isPending={start.isPending}>
          {text.submit}
        </Button>
      </form>
    </Gate>
  );
}
