import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ACCESS_VIEWS, paths, routeIds } from "../../routes.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Page } from "../../ui/page.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { AccountView } from "./views/account-view.tsx";
import { PeopleView } from "./views/people-view.tsx";
import { TokensView } from "./views/tokens-view.tsx";

const route = getRouteApi(routeIds.access);

/** Who gets in, and with what: tokens, people, one's own account. */
export function AccessPage(): ReactNode {
  const text = pageStrings.access;
  const navigate = useNavigate();
  const { view = "tokens" } = route.useSearch();

  return (
    <Page title={text.title} sentence={text.sentence}>
      <Segmented
        label={text.views.label}
        value={view}
        onChange={(chosen) => void navigate({ to: paths.access, search: { view: chosen } })}
        options={ACCESS_VIEWS.map((value) => ({ value, label: text.views[value] }))}
      />
      {view === "tokens" ? <TokensView /> : view === "people" ? <PeopleView /> : <AccountView />}
    </Page>
  );
}
