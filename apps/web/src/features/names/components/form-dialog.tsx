import type { FormEvent, ReactNode } from "react";
import { toProblem } from "../../../api/error-text.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";

type FormDialogProps = {
  readonly title: string;
  readonly isReady: boolean;
  readonly change: { readonly isPending: boolean; readonly error: Error | null };
  readonly onSave: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/** A dialog with boxes that is saved as a whole. */
export function FormDialog({ title, isReady, change, onSave, onClose, children }: FormDialogProps): ReactNode {
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isReady && !change.isPending) onSave();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        {children}
        {change.error ? <ProblemPanel problem={toProblem(change.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={change.isPending} isDisabled={!isReady}>
            {strings.common.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
