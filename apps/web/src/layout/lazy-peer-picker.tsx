import { lazyPart } from "../ui/lazy-part.tsx";

/** {@link PeerPicker} for dialogs: its script comes when one is opened. */
export const LazyPeerPicker = lazyPart(() => import("./peer-picker.tsx").then((module) => module.PeerPicker));
