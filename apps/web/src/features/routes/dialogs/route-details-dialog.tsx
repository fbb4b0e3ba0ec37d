import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTRPC } from "../../../api/context.ts";
import { ruleTitle, sideText, type SideNames } from "../../../api/rule-text.ts";
import type { AuditEvent, Peer, Route } from "../../../api/types.ts";
import { paths } from "../../../routes.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Chip } from "../../../ui/chip.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { LoadingPanel } from "../../../ui/panels.tsx";
import { Conflicts } from "../components/conflicts.tsx";
import { peerName, type PeersById, routeTitle, servingText } from "../route-text.ts";
import { rulesThatReach, senders } from "../route-users.ts";
import { readTakeOver, takeOverText } from "../take-overs.ts";
import { useStandIns } from "../use-routes.ts";
import type { RouteDialogProps } from "./route-dialog.ts";

/** All about one route: how it serves, who may use it, and what happened to it. */
export function RouteDetailsDialog({ route, peers, onClose }: RouteDialogProps): ReactNode {
  const text = pageStrings.routes.dialog;
  const standIns = useStandIns(route);
  const serves = route.kind === "exit" ? undefined : standIns.find(({ active }) => active);
  const router = peers.get(route.peerId);
  return (
    <Dialog title={text.details(routeTitle(route, peers))} onClose={onClose}>
      <Facts>
        <Fact name={text.facts.prefix}>
          <span className="with-copy">
            <code>{route.prefix}</code>
            <CopyButton text={route.prefix} what={pageStrings.routes.copyPrefix(route.prefix)} />
          </span>
        </Fact>
        <Fact name={text.facts.router}>
          <Link
            to={paths.peer}
            params={{ networkId: route.networkId, peerId: route.peerId }}
            className="name-link"
            dir="auto"
          >
            {peerName(peers, route.peerId)}
          </Link>{" "}
          ({pageStrings.routes.router[route.router]})
        </Fact>
        <Fact name={text.facts.state}>{pageStrings.routes.states[route.state]}</Fact>
        <Fact name={text.facts.serving}>{servingText(route, peers, serves)}</Fact>
        <Fact name={text.facts.masquerade}>{route.masquerade ? text.translated : text.kept}</Fact>
        <Fact name={text.facts.priority}>{route.priority}</Fact>
        <Fact name={text.facts.added}>
          <Moment at={route.createdAt} />
        </Fact>
      </Facts>
      <Part title={text.conflicts}>
        {route.conflicts.length === 0 ? (
          <p className="soft">{text.noConflicts}</p>
        ) : (
          <Conflicts conflicts={route.conflicts} />
        )}
      </Part>
      {router && router.problems.length > 0 ? (
        <Part title={text.routerProblems}>
          <ul>
            {router.problems.map((problem) => (
              <li key={problem} dir="auto">
                {problem}
              </li>
            ))}
          </ul>
        </Part>
      ) : null}
      {router ? <Users route={route} router={router} peers={peers} /> : null}
      <History route={route} standIns={standIns} peers={peers} />
    </Dialog>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section aria-label={title} className="dialog-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

type UsersProps = { readonly route: Route; readonly router: Peer; readonly peers: PeersById };

/** Whoever the rules let reach the router may send into the ranges behind it. */
function Users({ route, router, peers }: UsersProps): ReactNode {
  const text = pageStrings.routes.dialog;
  const trpc = useTRPC();
  const { networkId } = route;
  const rules = useQuery(trpc.rules.list.queryOptions({ networkId }));
  const groups = useQuery(trpc.groups.list.queryOptions({ networkId, limit: 500 })).data?.items ?? [];
  const names: SideNames = new Map([...groups, ...peers.values()].map(({ id, name }) => [id, name]));
  const found = rules.data && rulesThatReach(router, rules.data.items);
  return (
    <Part title={text.users}>
      {rules.isError && !found ? (
        <p className="soft">{text.rulesFailed}</p>
      ) : !found ? (
        <LoadingPanel label={text.users} />
      ) : found.length === 0 ? (
        <p>{text.noUsers(router.name)}</p>
      ) : (
        <>
          <p className="soft">{(route.kind === "exit" ? text.exitUsersHint : text.usersHint)(router.name)}</p>
          <ul className="addresses">
            {found.map((rule) => (
              <li key={rule.id} className="row-line">
                <Chip tone="accent">{sideText(senders(router, rule), names)}</Chip>
                <span className="soft" dir="auto">
                  {ruleTitle(rule, names)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <Link to={paths.diagnose} params={{ networkId }} search={{ to: router.id }}>
          {text.ask}
        </Link>
      </p>
    </Part>
  );
}

type HistoryProps = { readonly route: Route; readonly standIns: readonly Route[]; readonly peers: PeersById };

function History({ route, standIns, peers }: HistoryProps): ReactNode {
  const text = pageStrings.routes.dialog;
  const trpc = useTRPC();
  const { networkId, id: objectId } = route;
  const events = useQuery(trpc.auditEvents.list.queryOptions({ networkId, objectId, limit: HISTORY_ROWS }));
  const items = events.data?.items;
  const sentence = (event: AuditEvent): string => {
    const takeOver = readTakeOver(event);
    if (takeOver) {
      return takeOverText(
        route,
        standIns.find(({ id }) => id === takeOver.from),
        peers,
      );
    }
    const action = new Map<string, string>(Object.entries(text.actions)).get(event.action) ?? event.action;
    return text.by(action, event.actor.login ?? pageStrings.audit.actors[event.actor.kind]);
  };
  return (
    <Part title={text.history}>
      {events.isError && !items ? (
        <p className="soft">{text.historyFailed}</p>
      ) : !items ? (
        <LoadingPanel label={text.historyLoading} />
      ) : items.length === 0 ? (
        <p className="soft">{text.noHistory}</p>
      ) : (
        <ul className="addresses">
          {items.map((event) => (
            <li key={event.id}>
              <span dir="auto">{sentence(event)}</span> <Moment at={event.at} />
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}

const HISTORY_ROWS = 20;
