import { useMutation } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useTRPC } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import { clientConfigText, combineKey } from "../../format/client-keys.ts";
import { Logo } from "../../layout/logo.tsx";
import { strings } from "../../strings/index.ts";
import { Button } from "../../ui/button.tsx";
import { ClientConfigView } from "../../ui/client-config.tsx";
import { Gate } from "../../ui/gate.tsx";
import { ProblemPanel } from "../../ui/panels.tsx";

/** Shows the configuration of a static client once. Both halves of the link stand behind the `#` and never leave in an address. */
export function ClientPage(): ReactNode {
  const text = strings.clients;
  const trpc = useTRPC();
  const router = useRouter();
  const [[secret = "", half = ""]] = useState(() => router.history.location.hash.replace(/^#/, "").split("."));
  const redeem = useMutation(trpc.clients.redeemLink.mutationOptions());
  const given = redeem.data;
  const privateKey = given ? combineKey(half, given.pad) : null;

  return (
    <Gate mark={<Logo size={44} />} title={text.linkTitle} sentence={text.linkSentence}>
      {redeem.error ? <ProblemPanel problem={toProblem(redeem.error)} /> : null}
      {given && privateKey ? (
        <ClientConfigView name={given.config.name} text={clientConfigText(given.config, privateKey)} />
      ) : null}
      {given && !privateKey ? <p role="alert">{text.linkBroken}</p> : null}
      {given ? null : (
        <Button
          look="primary"
          isPending={redeem.isPending}
          isDisabled={secret === "" || half === ""}
          onPress={() => redeem.mutate({ secret })}
        >
          {text.show}
        </Button>
      )}
    </Gate>
  );
}
