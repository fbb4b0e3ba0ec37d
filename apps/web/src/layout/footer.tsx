import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../api/context.ts";
import type { LiveState } from "../api/live/keep-subscribed.ts";
import { useLiveState } from "../api/live/use-live.ts";
import { formatDuration } from "../format/time.ts";
import { apiDocsPath } from "../routes.ts";
import { strings } from "../strings/index.ts";
import { useNow } from "../ui/clock.tsx";
import { Status, type StatusKind } from "../ui/status.tsx";

/** The running version and the state of this page's live data. */
export function Footer(): ReactNode {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.instance.get.queryOptions());
  return (
    <footer className="footer">
      <span>{data ? strings.frame.version(data.version) : strings.frame.product}</span>
      <a href={apiDocsPath}>{strings.frame.api}</a>
      <span className="footer-live" role="status" aria-live="off">
        <LiveLine state={useLiveState()} />
      </span>
    </footer>
  );
}

function LiveLine({ state }: { readonly state: LiveState }): ReactNode {
  const nowMs = useNow();
  switch (state.state) {
    case "idle":
      return null;
    case "connecting":
      return <Status kind={KINDS.connecting}>{strings.frame.live.connecting}</Status>;
    case "live":
      return <Status kind={KINDS.live}>{strings.frame.live.live}</Status>;
    case "paused":
      return (
        <Status kind={KINDS.paused}>
          {strings.frame.live.paused(formatDuration(Math.max(0, nowMs - state.sinceMs)))}
        </Status>
      );
  }
}

const KINDS: Record<"connecting" | "live" | "paused", StatusKind> = {
  connecting: "busy",
  live: "good",
  paused: "warn",
};
