import type { ReactNode } from "react";
import { toProblem } from "../../../api/error-text.ts";
import type { RouteApprover } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useApproverChanges } from "../use-routes.ts";

export type RemoveApproverDialogProps = {
  readonly approver: RouteApprover;
  /** What the approver's group is called. */
  readonly group: string;
  readonly onClose: () => void;
};

/** Removes an approver; routes it approved stay approved. */
export function RemoveApproverDialog({ approver, group, onClose }: RemoveApproverDialogProps): ReactNode {
  const text = pageStrings.approvers;
  const { remove } = useApproverChanges(onClose);
  const title = text.removeLabel(approver.prefix, group);
  return (
    <ConfirmDialog
      title={title}
      consequences={text.removeConsequences}
      action={title}
      state={{ isPending: remove.isPending, problem: remove.error ? toProblem(remove.error) : null }}
      onConfirm={() => remove.mutate(approver)}
      onClose={onClose}
    />
  );
}
