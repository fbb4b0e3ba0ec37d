import { lazy, type ReactNode, Suspense } from "react";
import type { AddClientDialogProps } from "./add-client-dialog.tsx";
import type { PeerGroupsDialogProps } from "./peer-groups-dialog.tsx";
import type { PeerExpiryDialogProps } from "./peer-expiry-dialog.tsx";
import type { RemovePeerDialogProps } from "./remove-peer-dialog.tsx";
import type { RenamePeerDialogProps } from "./rename-peer-dialog.tsx";

// Dialogs are opened rarely; their script comes when one is, not with the page.
const AddClient = lazy(() => import("./add-client-dialog.tsx").then((module) => ({ default: module.AddClientDialog })));
const Expiry = lazy(() => import("./peer-expiry-dialog.tsx").then((module) => ({ default: module.PeerExpiryDialog })));
const Groups = lazy(() => import("./peer-groups-dialog.tsx").then((module) => ({ default: module.PeerGroupsDialog })));
const Remove = lazy(() => import("./remove-peer-dialog.tsx").then((module) => ({ default: module.RemovePeerDialog })));
const Rename = lazy(() => import("./rename-peer-dialog.tsx").then((module) => ({ default: module.RenamePeerDialog })));

/** Adds a static client. */
export function AddClientDialog(props: AddClientDialogProps): ReactNode {
  return (
    <Suspense>
      <AddClient {...props} />
    </Suspense>
  );
}

/** Sets when a membership ends. */
export function PeerExpiryDialog(props: PeerExpiryDialogProps): ReactNode {
  return (
    <Suspense>
      <Expiry {...props} />
    </Suspense>
  );
}

/** Sets the groups of a peer. */
export function PeerGroupsDialog(props: PeerGroupsDialogProps): ReactNode {
  return (
    <Suspense>
      <Groups {...props} />
    </Suspense>
  );
}

/** Removes a peer. */
export function RemovePeerDialog(props: RemovePeerDialogProps): ReactNode {
  return (
    <Suspense>
      <Remove {...props} />
    </Suspense>
  );
}

/** Gives a peer another name. */
export function RenamePeerDialog(props: RenamePeerDialogProps): ReactNode {
  return (
    <Suspense>
      <Rename {...props} />
    </Suspense>
  );
}
