import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTRPC } from "../../../api/context.ts";
import { letsPass } from "../../../api/rule-effect.ts";
import type { Peer } from "../../../api/types.ts";
import { paths } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { Moment } from "../../../ui/moment.tsx";
import { Status, type StatusKind } from "../../../ui/status.tsx";
import { type Attention, attention } from "../attention.ts";

export type AttentionListProps = { readonly networkId: string; readonly peers: readonly Peer[] };

/** Up to five things that need a look, each with its cause and one action. */
export function AttentionList({ networkId, peers }: AttentionListProps): ReactNode {
  const text = strings.overview.attention;
  const trpc = useTRPC();
  const rules = useQuery(trpc.rules.list.queryOptions({ networkId }));
  const waiting = useQuery(trpc.routes.list.queryOptions({ networkId, state: "pending", count: true, limit: 1 }));
  const found = attention({
    peers,
    rules: rules.data ? (rules.data.items.some(letsPass) ? "some" : "none") : "unknown",
    waitingRoutes: waiting.data?.total ?? 0,
  });

  if (found.length === 0) {
    return (
      <p className="quiet">
        <Status kind="good">{strings.overview.quiet}</Status>
      </p>
    );
  }
  return (
    <section aria-label={text.title}>
      <ul className="attention">
        {found.slice(0, SHOWN_MAX).map((item) => (
          <li
            key={"peer" in item ? `${item.kind} ${item.peer.id}` : item.kind}
            className={`attention-item attention-${KINDS[item.kind]}`}
          >
            <Item item={item} networkId={networkId} />
          </li>
        ))}
      </ul>
      {found.length > SHOWN_MAX ? <p className="soft">{text.more(found.length - SHOWN_MAX)}</p> : null}
    </section>
  );
}

function Item({ item, networkId }: { readonly item: Attention; readonly networkId: string }): ReactNode {
  const text = strings.overview.attention;
  if (item.kind === "no-rule") {
    return (
      <>
        <Status kind={KINDS[item.kind]}>{text.noRule}</Status>
        <span className="soft">{text.noRuleHint}</span>
        <Link to={paths.policy} params={{ networkId }} className="button button-secondary">
          {text.openPolicy}
        </Link>
      </>
    );
  }
  if (item.kind === "routes-wait") {
    return (
      <>
        <Status kind={KINDS[item.kind]}>{text.routesWait(item.count)}</Status>
        <span className="soft">{text.routesWaitHint}</span>
        <Link
          to={paths.routes}
          params={{ networkId }}
          search={{ state: "pending" }}
          className="button button-secondary"
        >
          {text.openRoutes}
        </Link>
      </>
    );
  }
  const { peer } = item;
  return (
    <>
      <Status kind={KINDS[item.kind]}>{text[item.kind](peer.name)}</Status>
      <span className="soft">
        {hintOf(item)}{" "}
        {item.kind !== "problem" && peer.lastSeenAt ? (
          <>
            {text.seen} <Moment at={peer.lastSeenAt} />.
          </>
        ) : null}
      </span>
      <Link
        to={paths.peer}
        params={{ networkId, peerId: peer.id }}
        className="button button-secondary"
        aria-label={text.openPeer(peer.name)}
      >
        {text.open}
      </Link>
    </>
  );
}

function hintOf(item: Extract<Attention, { readonly peer: Peer }>): string {
  if (item.kind === "problem") return item.problem;
  return item.kind === "pending" ? strings.overview.attention.pendingHint : strings.overview.attention.offlineHint;
}

const KINDS: Record<Attention["kind"], StatusKind> = {
  "no-rule": "bad",
  offline: "bad",
  pending: "warn",
  unknown: "idle",
  "routes-wait": "warn",
  problem: "warn",
};
const SHOWN_MAX = 5;
