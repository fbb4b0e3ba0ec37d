import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useTRPC } from "../../api/context.ts";
import { loginTokenOf, toProblem } from "../../api/error-text.ts";
import { providerLogin } from "../../api/provider-login.ts";
import { Logo } from "../../layout/logo.tsx";
import { parseLoginSearch, paths } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { Button } from "../../ui/button.tsx";
import { Gate } from "../../ui/gate.tsx";
import { LoadingPanel, ProblemPanel } from "../../ui/panels.tsx";
import { TextField } from "../../ui/text-field.tsx";

/** Where a provider sends the browser back to: ends the login that this tab began, with a code where the account has one. */
export function LoginCallbackPage(): ReactNode {
  const text = strings.login;
  const { finish, confirm, token } = useFinish();
  const error = confirm.error ?? (token === null ? finish.error : null);
  const [code, setCode] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    confirm.send(code.trim());
  };

  return (
    <Gate mark={<Logo size={44} />} title={text.title}>
      {token === null ? null : (
        <form className="form" onSubmit={submit}>
          <TextField
            label={text.code}
            hint={text.codeHint}
            value={code}
            onChange={setCode}
            name="code"
            autoComplete="one-time-code"
            isRequired
            focus="first"
            maxLength={40}
          />
          <Button type="submit" look="primary" isPending={confirm.isPending}>
            {text.submit}
          </Button>
        </form>
      )}
      {error ? <ProblemPanel problem={toProblem(error)} /> : null}
      {error || token !== null ? (
        <Link to={paths.login}>{text.backToLogin}</Link>
      ) : (
        <LoadingPanel label={text.returning} />
      )}
    </Gate>
  );
}

/** Both steps of the login's end; the token is there while the second one is asked for. */
function useFinish() {
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const finish = useMutation(trpc.identityProviders.finish.mutationOptions());
  const confirm = useMutation(trpc.identityProviders.confirm.mutationOptions());
  const isBegun = useRef(false);
  const next = useRef<string | undefined>(undefined);
  const enter = (): void => {
    queryClient.removeQueries({ queryKey: trpc.sessions.current.queryKey() });
    router.history.replace(parseLoginSearch({ next: next.current }).next ?? paths.home);
  };

  useEffect(() => {
    // What the address carries counts once; a second run of the effect must not spend it again.
    if (isBegun.current) return;
    isBegun.current = true;
    const kept = providerLogin.take();
    const query = router.history.location.search.replace(/^\?/, "");
    const invite = kept?.invite ?? null;
    next.current = kept?.next ?? undefined;
    finish.mutate(
      { loginToken: kept?.loginToken ?? "none", query, ...(invite === null ? {} : { invite }) },
      { onSuccess: enter },
    );
  });

  const token = loginTokenOf(finish.error);
  const send = (code: string): void => {
    if (token !== null) confirm.mutate({ loginToken: token, code }, { onSuccess: enter });
  };
  return { finish, token, confirm: { error: confirm.error, isPending: confirm.isPending, send } };
}
