import type { ReactNode } from "react";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";

/** Shows a secret this one time. A click outside does not close it. */
export function TokenOnceDialog({
  secret,
  onClose,
}: {
  readonly secret: string;
  readonly onClose: () => void;
}): ReactNode {
  const text = strings.access;
  return (
    <Dialog title={text.onceTitle} onClose={onClose} dismiss="explicit">
      <p>{text.once}</p>
      <div className="join-box">
        <code className="join-command" aria-label={text.tokenWhat}>
          {secret}
        </code>
        <CopyButton text={secret} what={text.tokenWhat} look="primary" />
      </div>
      <DialogActions>
        <Button onPress={onClose}>{text.onceDone}</Button>
      </DialogActions>
    </Dialog>
  );
}
