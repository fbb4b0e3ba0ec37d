import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { useTRPC } from "../api/context.ts";
import { paths } from "../routes.ts";
import { strings } from "../strings/index.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";

/** Every page has the switcher, and few visits make a network. */
const CreateNetworkDialog = lazy(() =>
  import("../features/networks/dialogs/create-network-dialog.tsx").then((module) => ({
    default: module.CreateNetworkDialog,
  })),
);

/** Shows the network one looks at, switches to another and creates one. */
export function NetworkSwitcher({ networkId }: { readonly networkId: string | null }): ReactNode {
  const trpc = useTRPC();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<"closed" | "create">("closed");
  const { data } = useQuery(trpc.networks.list.queryOptions({ limit: 500 }));
  const networks = data?.items ?? [];
  const current = networks.find((network) => network.id === networkId);

  return (
    <>
      <Menu
        label={current ? strings.frame.network(current.name) : strings.frame.chooseNetwork}
        look="text"
        trigger={
          <>
            <span className="switcher-name" dir="auto">
              {current?.name ?? strings.frame.chooseNetwork}
            </span>
            <Icon name="updown" size={16} />
          </>
        }
        {...(current ? { chosen: current.id } : {})}
        actions={[
          ...networks.map((network) => ({
            id: network.id,
            label: network.name,
            onAction: () => void navigate({ to: paths.overview, params: { networkId: network.id } }),
          })),
          { id: "create", label: strings.networks.create, icon: "plus" as const, onAction: () => setDialog("create") },
        ]}
      />
      <Suspense>{dialog === "create" ? <CreateNetworkDialog onClose={() => setDialog("closed")} /> : null}</Suspense>
    </>
  );
}
