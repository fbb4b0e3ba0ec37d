import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC, useTRPCClient } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Peer, PingResult } from "../../../api/types.ts";
import { formatRoundTrip } from "../../../format/time.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { Status } from "../../../ui/status.tsx";

export type FirstPingProps = { readonly from: Peer; readonly to: Peer };

/** Pings through the tunnel as soon as both hosts can, and shows the path and its time. */
export function FirstPing({ from, to }: FirstPingProps): ReactNode {
  const text = strings.addHost.ping;
  const ready = [from, to].every((peer) => peer.presence === "online" && peer.map.state === "applied");
  const ping = useFirstPing({ from, to }, ready ? "run" : "wait");
  const again = (): void => void ping.refetch();

  return (
    <section className="first-ping" aria-label={text.title} aria-live="polite" data-result={outcome(ping.data)}>
      <PathLine from={from} to={to} state={outcome(ping.data)} />
      {!ready && !ping.data ? (
        <Status kind="busy">{text.waiting}</Status>
      ) : ping.isFetching ? (
        <Status kind="busy">{text.running(from.name, to.name)}</Status>
      ) : ping.error ? (
        <ProblemPanel problem={toProblem(ping.error)} onRetry={again} />
      ) : ping.data && ping.data.received > 0 ? (
        <div className="ping-good">
          <Status kind="good">{text.good(from.name, to.name)}</Status>
          <strong className="ping-time">
            {text.facts(text.path[ping.data.path], formatRoundTrip(Math.min(...ping.data.rttMicroseconds)))}
          </strong>
          {ping.data.endpoint ? <code className="faint">{ping.data.endpoint}</code> : null}
        </div>
      ) : (
        <div className="ping-lost">
          <Status kind="bad">{text.lost(from.name, to.name)}</Status>
          <span className="soft">{text.lostHint}</span>
          <Button icon="refresh" onPress={again}>
            {text.again}
          </Button>
        </div>
      )}
    </section>
  );
}

type Outcome = "waiting" | "good" | "lost";

function PathLine({ from, to, state }: FirstPingProps & { readonly state: Outcome }): ReactNode {
  return (
    <div className="path-line" data-state={state} aria-hidden="true">
      <span className="path-end" dir="auto">
        {from.name}
      </span>
      <span className="path-wire">
        <Icon name={state === "lost" ? "close" : "link"} size={16} />
      </span>
      <span className="path-end" dir="auto">
        {to.name}
      </span>
    </div>
  );
}

function outcome(result: PingResult | undefined): Outcome {
  if (!result) return "waiting";
  return result.received > 0 ? "good" : "lost";
}

function useFirstPing({ from, to }: FirstPingProps, mode: "run" | "wait") {
  const trpc = useTRPC();
  const client = useTRPCClient();
  return useQuery({
    queryKey: [...trpc.peers.ping.mutationKey(), from.id, to.id],
    enabled: mode === "run",
    staleTime: "static",
    retry: 2,
    queryFn: async ({ signal }) => {
      for (let attempt = 1; ; attempt += 1) {
        const result = await client.peers.ping.mutate({ peerId: from.id, targetPeerId: to.id, count: 3 }, { signal });
        if (result.received > 0 || attempt === ATTEMPTS_MAX) return result;
        await pause(signal);
      }
    },
  });
}

/** The very first packets may come before the other side knows this peer. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const ATTEMPTS_MAX = 4;
const PAUSE_MS = 700;
