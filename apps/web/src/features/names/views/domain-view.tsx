import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { LoadingPanel, ProblemPanel, StaleNote } from "../../../ui/panels.tsx";
import { Status } from "../../../ui/status.tsx";
import { DomainDialog } from "../dialogs/lazy-dialogs.tsx";
import { useGroups } from "../use-names.ts";

type DomainViewProps = { readonly networkId: string; readonly mayChange: boolean };

/** What names of the network end in, and whose hosts are left alone. */
export function DomainView({ networkId, mayChange }: DomainViewProps): ReactNode {
  const text = pageStrings.domain;
  const trpc = useTRPC();
  const settings = useQuery(trpc.nameSettings.get.queryOptions({ networkId }));
  const groups = useGroups(networkId);
  const [dialog, setDialog] = useState<"none" | "change">("none");
  const retry = (): void => void settings.refetch();
  if (!settings.data) {
    return settings.error ? (
      <ProblemPanel problem={toProblem(settings.error)} onRetry={retry} />
    ) : (
      <LoadingPanel label={text.loading} />
    );
  }
  const { state, domain, searchDomains, leftAloneGroupIds } = settings.data;
  const groupName = (id: string): string =>
    groups.find((group) => group.id === id)?.name ?? pageStrings.servers.unknownGroup;

  return (
    <Card
      title={text.title}
      actions={mayChange ? <Button onPress={() => setDialog("change")}>{text.change}</Button> : null}
    >
      {settings.isError ? <StaleNote onRetry={retry}>{strings.common.staleRows}</StaleNote> : null}
      <Facts>
        <Fact name={text.facts.state}>
          <Status kind={state === "on" ? "good" : "idle"}>{text.states[state]}</Status>
        </Fact>
        <Fact name={text.facts.domain}>
          <span className="with-copy">
            <code>{domain}</code>
            <CopyButton text={domain} what={text.copy(domain)} />
          </span>
        </Fact>
        <Fact name={text.facts.search}>{searchDomains.join(", ") || strings.common.none}</Fact>
        <Fact name={text.facts.leftAlone}>
          <span dir="auto">{leftAloneGroupIds.map(groupName).join(", ") || strings.common.none}</span>
        </Fact>
      </Facts>
      <p className="soft">{text.peers(`${text.example}.${domain}`)}</p>
      {dialog === "change" ? (
        <DomainDialog settings={settings.data} groups={groups} onClose={() => setDialog("none")} />
      ) : null}
    </Card>
  );
}
