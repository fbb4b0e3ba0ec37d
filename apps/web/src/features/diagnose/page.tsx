import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type DiagnoseSearch, paths, routeIds } from "../../routes.ts";
import { pageStrings } from "../../strings/pages.ts";
import { EmptyPanel } from "../../ui/panels.tsx";
import { Page } from "../../ui/page.tsx";
import { Chain } from "./components/chain.tsx";
import { PingCard } from "./components/ping-card.tsx";
import { QuestionCard } from "./components/question-card.tsx";

const route = getRouteApi(routeIds.diagnose);

/** Why a peer can or cannot reach another. The question is in the address, so an answer is shared by its link. */
export function DiagnosePage(): ReactNode {
  const text = pageStrings.diagnose;
  const { networkId } = route.useParams();
  const question = route.useSearch();
  const navigate = useNavigate();
  const ask = (search: DiagnoseSearch): void =>
    void navigate({ to: paths.diagnose, params: { networkId }, search, replace: true });
  const { from, to } = question;

  return (
    <Page title={text.title} sentence={text.sentence}>
      <QuestionCard networkId={networkId} question={question} onAsk={ask} />
      {from === undefined || to === undefined ? (
        <EmptyPanel title={text.start} />
      ) : from === to ? (
        <EmptyPanel title={text.same} />
      ) : (
        <>
          <Chain question={{ ...question, from, to }} />
          <PingCard key={`${from} ${to}`} from={from} to={to} />
        </>
      )}
    </Page>
  );
}
