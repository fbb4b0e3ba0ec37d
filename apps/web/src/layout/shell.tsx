import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation, useParams } from "@tanstack/react-router";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { useTRPC } from "../api/context.ts";
import { strings } from "../strings/index.ts";
import { Footer } from "./footer.tsx";
import { HealthBanner } from "./health-banner.tsx";
import { lastNetwork } from "./last-network.ts";
import { Rail } from "./rail.tsx";
import { Topbar } from "./topbar.tsx";

/** The frame around every page behind the login. */
export function Shell(): ReactNode {
  const networkId = useShellNetwork();
  const content = useFocusAfterNavigation();
  const [sheet, setSheet] = useState<"open" | "closed">("closed");
  const closeSheet = (): void => setSheet("closed");

  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        {strings.frame.skip}
      </a>
      <aside className="rail">
        <Rail networkId={networkId} />
      </aside>
      <Topbar networkId={networkId} onMenu={() => setSheet("open")} />
      <div className="shell-body">
        <HealthBanner />
        <main id="content" tabIndex={-1} ref={content}>
          <Outlet />
        </main>
        <Footer />
      </div>
      <ModalOverlay
        isOpen={sheet === "open"}
        onOpenChange={(open) => (open ? undefined : closeSheet())}
        isDismissable
        className="overlay sheet-overlay"
      >
        <Modal className="sheet">
          <AriaDialog aria-label={strings.frame.navigation} className="sheet-body">
            <Rail networkId={networkId} onNavigate={closeSheet} />
          </AriaDialog>
        </Modal>
      </ModalOverlay>
    </div>
  );
}

/** After a navigation the focus moves to the new content, so that keyboard and screen reader start there. */
function useFocusAfterNavigation(): RefObject<HTMLElement | null> {
  const content = useRef<HTMLElement>(null);
  const pathname = useLocation({ select: (location) => location.pathname });
  const seen = useRef(pathname);
  useEffect(() => {
    if (seen.current === pathname) return;
    seen.current = pathname;
    content.current?.focus({ preventScroll: true });
  }, [pathname]);
  return content;
}

/** The network of the page; where the page belongs to none, the last one, as long as it exists. */
function useShellNetwork(): string | null {
  const trpc = useTRPC();
  const { networkId } = useParams({ strict: false });
  const { data } = useQuery(trpc.networks.list.queryOptions({ limit: 500 }));
  useEffect(() => {
    if (networkId) lastNetwork.write(networkId);
  }, [networkId]);

  if (networkId) return networkId;
  const last = lastNetwork.read();
  const known = data?.items.find((network) => network.id === last) ?? data?.items.at(0);
  return known?.id ?? (data ? null : last);
}
