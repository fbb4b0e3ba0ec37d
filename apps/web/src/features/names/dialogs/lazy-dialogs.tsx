import { lazyPart } from "../../../ui/lazy-part.tsx";

export const DomainDialog = lazyPart(() => import("./domain-dialog.tsx").then((module) => module.DomainDialog));
export const NameserversDialog = lazyPart(() =>
  import("./nameservers-dialog.tsx").then((module) => module.NameserversDialog),
);
export const RecordDialog = lazyPart(() => import("./record-dialog.tsx").then((module) => module.RecordDialog));
export const RemoveDialog = lazyPart(() => import("./remove-dialog.tsx").then((module) => module.RemoveDialog));
