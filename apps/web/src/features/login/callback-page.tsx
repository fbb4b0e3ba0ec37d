import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { useTRPC } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import { providerLogin } from "../../api/provider-login.ts";
import { Logo } from "../../layout/logo.tsx";
import { parseLoginSearch, paths } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { Gate } from "../../ui/gate.tsx";
import { LoadingPanel, ProblemPanel } from "../../ui/panels.tsx";

/** Where a provider sends the browser back to: ends the login that this tab began. */
export function LoginCallbackPage(): ReactNode {
  const text = strings.login;
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const finish = useMutation(trpc.identityProviders.finish.mutationOptions());
  const isBegun = useRef(false);

  useEffect(() => {
    // What the address carries counts once; a second run of the effect must not spend it again.
    if (isBegun.current) return;
    isBegun.current = true;
    const kept = providerLogin.take();
    const query = router.history.location.search.replace(/^\?/, "");
    const invite = kept?.invite ?? null;
    finish.mutate(
      { loginToken: kept?.loginToken ?? "none", query, ...(invite === null ? {} : { invite }) },
      {
        onSuccess: () => {
          queryClient.removeQueries({ queryKey: trpc.sessions.current.queryKey() });
          router.history.replace(parseLoginSearch({ next: kept?.next }).next ?? paths.home);
        },
      },
    );
  }, [finish, queryClient, router, trpc]);

  return (
    <Gate mark={<Logo size={44} />} title={text.title}>
      {finish.error ? (
        <>
          <ProblemPanel problem={toProblem(finish.error)} />
          <Link to={paths.login}>{text.backToLogin}</Link>
        </>
      ) : (
        <LoadingPanel label={text.returning} />
      )}
    </Gate>
  );
}
