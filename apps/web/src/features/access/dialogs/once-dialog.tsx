import type { ReactNode } from "react";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";

export type OnceDialogProps = {
  readonly title: string;
  readonly sentence: string;
  /** What it is, in words, for the copy button. */
  readonly what: string;
  readonly secret: string;
  readonly onClose: () => void;
};

/** Shows a secret this one time. A click outside does not close it. */
export function OnceDialog({ title, sentence, what, secret, onClose }: OnceDialogProps): ReactNode {
  return (
    <Dialog title={title} onClose={onClose} dismiss="explicit">
      <p>{sentence}</p>
      <div className="join-box">
        <code className="join-command" aria-label={what}>
          {secret}
        </code>
        <CopyButton text={secret} what={what} look="primary" />
      </div>
      <DialogActions>
        <Button onPress={onClose}>{pageStrings.access.onceDone}</Button>
      </DialogActions>
    </Dialog>
  );
}
