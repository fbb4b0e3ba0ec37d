import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { PingResult } from "../../../api/types.ts";
import { formatRoundTrip } from "../../../format/time.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { Status } from "../../../ui/status.tsx";

/** Proves it: echo requests through the tunnel. */
export function PingCard({ from, to }: { readonly from: string; readonly to: string }): ReactNode {
  const text = pageStrings.diagnose.ping;
  const trpc = useTRPC();
  const ping = useMutation(trpc.peers.ping.mutationOptions());
  const run = (): void => ping.mutate({ peerId: from, targetPeerId: to, count: COUNT });

  return (
    <Card
      title={text.title}
      hint={text.hint}
      actions={
        <Button icon="arrow" isPending={ping.isPending} onPress={run}>
          {text.run}
        </Button>
      }
    >
      <div aria-live="polite">
        {ping.error ? <ProblemPanel problem={toProblem(ping.error)} onRetry={run} /> : null}
        {ping.data ? <Outcome result={ping.data} /> : null}
      </div>
    </Card>
  );
}

function Outcome({ result }: { readonly result: PingResult }): ReactNode {
  const text = pageStrings.diagnose.ping;
  const { sent, received, endpoint, path } = result;
  if (received === 0) return <Status kind="bad">{text.lost(sent)}</Status>;
  const times = result.rttMicroseconds.toSorted((a, b) => a - b);
  const figures = [
    { name: text.fastest, time: times.at(0) },
    { name: text.median, time: times.at(Math.floor(times.length / 2)) },
    { name: text.slowest, time: times.at(-1) },
  ];
  return (
    <>
      <p className="verdict">
        <Status kind={received === sent ? "good" : "warn"}>{text.good(received, sent)}</Status>
      </p>
      <Facts>
        {figures.map(({ name, time }) => (
          <Fact key={name} name={name}>
            {time === undefined ? strings.common.dash : formatRoundTrip(time)}
          </Fact>
        ))}
        <Fact name={text.path}>{text.paths[path]}</Fact>
        <Fact name={text.endpoint}>{endpoint === null ? strings.common.dash : <code>{endpoint}</code>}</Fact>
      </Facts>
    </>
  );
}

const COUNT = 5;
