import { type ReactNode, useState } from "react";
import { strings } from "../../strings/index.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { EmptyPanel } from "../../ui/panels.tsx";
import { CreateNetworkDialog } from "./dialogs/create-network-dialog.tsx";

/** Where one lands while no network exists. */
export function NetworksPage(): ReactNode {
  const [dialog, setDialog] = useState<"closed" | "create">("closed");
  return (
    <Page
      title={strings.networks.title}
      action={
        <Button look="primary" icon="plus" onPress={() => setDialog("create")}>
          {strings.networks.create}
        </Button>
      }
    >
      <EmptyPanel title={strings.networks.none}>{strings.networks.noneHint}</EmptyPanel>
      {dialog === "create" ? <CreateNetworkDialog onClose={() => setDialog("closed")} /> : null}
    </Page>
  );
}
