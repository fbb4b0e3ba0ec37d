import type { ReactNode } from "react";
import { toProblem } from "../../../api/error-text.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { Conflicts } from "../components/conflicts.tsx";
import { peerName, routeTitle } from "../route-text.ts";
import { useRouteChanges } from "../use-routes.ts";
import type { RouteDialogProps } from "./route-dialog.ts";

/** Says what an approval opens before it is given. */
export function ApproveRouteDialog({ route, peers, onClose }: RouteDialogProps): ReactNode {
  const text = pageStrings.routes.dialog;
  const { approve } = useRouteChanges(onClose);
  const name = peerName(peers, route.peerId);
  return (
    <Dialog title={text.approveTitle(routeTitle(route, peers))} onClose={onClose}>
      <div className="form">
        <p>{route.kind === "exit" ? text.approveExit(name) : text.approveSubnet(route.prefix, name)}</p>
        <Conflicts conflicts={route.conflicts} />
        {approve.error ? <ProblemPanel problem={toProblem(approve.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button look="primary" isPending={approve.isPending} onPress={() => approve.mutate(route)}>
            {pageStrings.routes.approve}
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}
