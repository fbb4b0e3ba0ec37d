import { type FormEvent, type ReactNode, useState } from "react";
import { toProblem } from "../../../api/error-text.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { parsePriority, RouteFields, type RouteDraft } from "../components/route-fields.tsx";
import { routeTitle } from "../route-text.ts";
import { useRouteChanges } from "../use-routes.ts";
import type { RouteDialogProps } from "./route-dialog.ts";

/** Changes how a range is reached; range and router stay, they are another route. */
export function EditRouteDialog({ route, peers, onClose }: RouteDialogProps): ReactNode {
  const [draft, setDraft] = useState<RouteDraft>({
    description: route.description,
    masquerade: route.masquerade,
    priority: String(route.priority),
  });
  const { update } = useRouteChanges(onClose);
  const priority = parsePriority(draft.priority);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (priority === null) return;
    update.mutate({ routeId: route.id, description: draft.description, masquerade: draft.masquerade, priority });
  };
  return (
    <Dialog title={pageStrings.routes.form.editTitle(routeTitle(route, peers))} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <RouteFields draft={draft} onChange={setDraft} />
        {update.error ? <ProblemPanel problem={toProblem(update.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={update.isPending} isDisabled={priority === null}>
            {strings.common.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
