import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../api/context.ts";
import { useLiveState } from "../api/live/use-live.ts";
import { strings } from "../strings/index.ts";
import { useNow } from "../ui/clock.tsx";
import { Icon } from "../ui/icon.tsx";

/** Says that the server or its database is in trouble, and that the mesh keeps working. */
export function HealthBanner(): ReactNode {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.instance.get.queryOptions());
  const live = useLiveState();
  const nowMs = useNow();
  const silent = live.state === "paused" && nowMs - live.sinceMs > PATIENCE_MS;

  if (!silent && data?.database.ok !== false) return null;
  return (
    <div className="banner" role="alert">
      <Icon name="warning" />
      <span>{silent ? strings.frame.banner.server : strings.frame.banner.database}</span>
    </div>
  );
}

/** A restart takes a few seconds; only a longer silence is worth a banner. */
const PATIENCE_MS = 8_000;
