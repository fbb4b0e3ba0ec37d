import type { ReactNode } from "react";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { strings } from "../strings/index.ts";
import { IconButton } from "./button.tsx";

export type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  /** `explicit` keeps it open on a click outside: for things shown once. */
  readonly dismiss?: "anywhere" | "explicit";
  readonly role?: "dialog" | "alertdialog";
  readonly children: ReactNode;
};

/** A modal dialog; whoever renders it decides that it is open. */
export function Dialog({ title, onClose, dismiss = "anywhere", role = "dialog", children }: DialogProps): ReactNode {
  return (
    <ModalOverlay
      isOpen
      onOpenChange={(open) => (open ? undefined : onClose())}
      isDismissable={dismiss === "anywhere"}
      className="overlay"
    >
      <Modal className="modal">
        <AriaDialog role={role} className="dialog">
          <header className="dialog-head">
            <Heading slot="title">{title}</Heading>
            <IconButton icon="close" label={strings.common.close} onPress={onClose} />
          </header>
          <div className="dialog-body">{children}</div>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** The row of buttons at the end of a dialog or form. */
export function DialogActions({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className="dialog-actions">{children}</div>;
}
