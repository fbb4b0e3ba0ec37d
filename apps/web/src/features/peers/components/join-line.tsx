import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC, useTRPCClient } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import { formatDuration } from "../../../format/time.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { useNow } from "../../../ui/clock.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { LoadingPanel, ProblemPanel } from "../../../ui/panels.tsx";

/** The one line that installs the agent and joins it. Its key is made when the page opens. */
export function JoinLine({ networkId }: { readonly networkId: string }): ReactNode {
  const text = strings.addHost;
  const key = useJoinKey(networkId);
  const nowMs = useNow();

  if (key.error) return <ProblemPanel problem={toProblem(key.error)} onRetry={() => void key.refetch()} />;
  if (!key.data) return <LoadingPanel label={text.preparing} />;

  const { joinLine, joinCommand } = key.data;
  // A server without an archive of the agent can only tell what to type where the agent is already.
  const command = joinLine === joinCommand ? `sudo ${joinCommand}` : joinLine;
  const leftMs = Date.parse(key.data.expiresAt) - nowMs;
  return (
    <section className="join-line" aria-label={text.line}>
      <div className="join-box">
        <code className="join-command" aria-label={text.line}>
          {command}
        </code>
        <CopyButton text={command} what={text.lineWhat} look="primary" />
      </div>
      <p className="join-facts soft">
        <span>
          {leftMs > 0 ? text.validity(formatDuration(roundUp(leftMs)), key.data.usesMax ?? USES_MAX) : text.expired}
        </span>
        <span>{joinLine === joinCommand ? text.needsAgent : text.needs}</span>
        <Button look="quiet" icon="refresh" onPress={() => void key.refetch()}>
          {text.renew}
        </Button>
      </p>
      <CloneLine command={`sudo npx --no ${joinCommand}`} />
    </section>
  );
}

/** For those who work on weft: the same key with the program of a clone. */
function CloneLine({ command }: { readonly command: string }): ReactNode {
  const text = strings.addHost;
  return (
    <details className="join-clone soft">
      <summary>{text.clone}</summary>
      <p>{text.cloneHint}</p>
      <div className="join-box">
        <code className="join-command">{command}</code>
        <CopyButton text={command} what={text.cloneWhat} />
      </div>
    </details>
  );
}

/** The key is kept in memory while it is valid, so that coming back to the page does not make another. */
function useJoinKey(networkId: string) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  return useQuery({
    queryKey: [...trpc.enrolmentKeys.create.mutationKey(), "join-line", networkId],
    queryFn: () =>
      client.enrolmentKeys.create.mutate({ networkId, usesMax: USES_MAX, expiresInSeconds: VALID_SECONDS }),
    staleTime: "static",
    gcTime: VALID_SECONDS * 1000,
    retry: false,
  });
}

/** Minutes are enough here; a seconds counter would only make people hurry. */
function roundUp(leftMs: number): number {
  return leftMs < 60_000 ? leftMs : Math.ceil(leftMs / 60_000) * 60_000;
}

const USES_MAX = 10;
const VALID_SECONDS = 3_600;
