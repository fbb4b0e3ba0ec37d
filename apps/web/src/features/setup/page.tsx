import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTRPC } from "../../api/context.ts";
import { Logo } from "../../layout/logo.tsx";
import { routeIds } from "../../routes.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Gate } from "../../ui/gate.tsx";
import { OwnerForm } from "./components/owner-form.tsx";

const route = getRouteApi(routeIds.setup);

/** First run: creates the owner and the first network. */
export function SetupPage(): ReactNode {
  const trpc = useTRPC();
  const { setup } = route.useSearch();
  const { data } = useQuery(trpc.setup.status.queryOptions());
  return (
    <Gate mark={<Logo size={44} />} title={pageStrings.setup.title} sentence={pageStrings.setup.sentence}>
      <OwnerForm token={setup ?? null} tokenNeed={data?.tokenRequired && !setup ? "ask" : "known"} />
    </Gate>
  );
}
