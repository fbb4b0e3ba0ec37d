import { lazy, type ReactNode, Suspense } from "react";
import type { TrafficCardsProps } from "./traffic-cards.tsx";

// Below the fold, with the script of tables: both come after the page.
const Cards = lazy(() => import("./traffic-cards.tsx").then((module) => ({ default: module.TrafficCards })));

/** What goes through a peer: sessions, flows, and where the time of the data plane goes. */
export function TrafficCards(props: TrafficCardsProps): ReactNode {
  return (
    <Suspense>
      <Cards {...props} />
    </Suspense>
  );
}
