import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTRPC } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import { UpdateNotice } from "../../layout/update-notice.tsx";
import { routeIds } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Page } from "../../ui/page.tsx";
import { LoadingPanel, ProblemPanel, StaleNote } from "../../ui/panels.tsx";
import { DangerCard } from "./components/danger-card.tsx";
import { EnrolmentKeysCard } from "./components/enrolment-keys-card.tsx";
import { FlowsCard } from "./components/flows-card.tsx";
import { GeneralCard } from "./components/general-card.tsx";

const route = getRouteApi(routeIds.settings);

/** Settings of one network; what destroys comes last. */
export function SettingsPage(): ReactNode {
  const { networkId } = route.useParams();
  const text = pageStrings.settings;
  const trpc = useTRPC();
  const network = useQuery(trpc.networks.get.queryOptions({ networkId }));
  const retry = (): void => void network.refetch();

  if (!network.data) {
    return (
      <Page title={text.title}>
        {network.error ? (
          <ProblemPanel problem={toProblem(network.error)} onRetry={retry} />
        ) : (
          <LoadingPanel label={text.loading} />
        )}
      </Page>
    );
  }
  return (
    <Page title={text.title} sentence={text.sentence(network.data.name)}>
      <UpdateNotice />
      {network.isError ? <StaleNote onRetry={retry}>{strings.common.staleRows}</StaleNote> : null}
      <GeneralCard key={network.data.name} network={network.data} />
      <FlowsCard key={`${network.data.flowSampling} ${network.data.flowKeepHours}`} network={network.data} />
      <EnrolmentKeysCard networkId={networkId} />
      <DangerCard network={network.data} />
    </Page>
  );
}
