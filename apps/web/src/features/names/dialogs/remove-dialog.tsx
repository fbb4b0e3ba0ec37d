import type { ReactNode } from "react";
import { toProblem } from "../../../api/error-text.ts";
import type { NameRecord, Nameservers } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useRemove } from "../use-names.ts";

export type RemoveDialogProps = {
  readonly item: NameRecord | Nameservers;
  readonly consequences: string;
  readonly onClose: () => void;
};

/** Removes a record or a group of nameservers. */
export function RemoveDialog({ item, consequences, onClose }: RemoveDialogProps): ReactNode {
  const remove = useRemove(onClose);
  const title = pageStrings.names.remove("type" in item ? `${item.name} ${item.type}` : item.name);
  return (
    <ConfirmDialog
      title={title}
      consequences={consequences}
      action={title}
      state={{ isPending: remove.isPending, problem: remove.error ? toProblem(remove.error) : null }}
      onConfirm={() => remove.mutate(item)}
      onClose={onClose}
    />
  );
}
