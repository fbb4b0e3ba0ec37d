import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../api/context.ts";
import { strings } from "../strings/index.ts";
import { Icon } from "../ui/icon.tsx";

/** Says quietly that a newer release is out, to those who can do something about it. */
export function UpdateNotice(): ReactNode {
  const trpc = useTRPC();
  const instance = useQuery(trpc.instance.get.queryOptions());
  const session = useQuery(trpc.sessions.current.queryOptions());
  const release = instance.data?.update.release;
  const role = session.data?.user.role;
  if (!instance.data || !release || (role !== "owner" && role !== "admin")) return null;
  const text = strings.frame.update;
  return (
    <p className="update-notice" role="note">
      <Icon name={release.severity === "security" ? "warning" : "refresh"} size={16} />
      <span>
        {release.severity === "security" ? text.security(release.version) : text.normal(release.version)}{" "}
        {release.summary === "" ? null : <span dir="auto">{release.summary} </span>}
        <a href={release.url} target="_blank" rel="noreferrer">
          {text.read}
        </a>{" "}
        {text.runs(instance.data.version)}
      </span>
    </p>
  );
}
