import type { Route } from "../../../api/types.ts";
import type { PeersById } from "../route-text.ts";

/** What every dialog about one route is given. */
export type RouteDialogProps = {
  readonly route: Route;
  readonly peers: PeersById;
  readonly onClose: () => void;
};
