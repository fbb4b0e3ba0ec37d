import { lazyPart } from "../../../ui/lazy-part.tsx";

export const AddApproverDialog = lazyPart(() =>
  import("./add-approver-dialog.tsx").then((module) => module.AddApproverDialog),
);
export const AddRouteDialog = lazyPart(() => import("./add-route-dialog.tsx").then((module) => module.AddRouteDialog));
export const ApproveRouteDialog = lazyPart(() =>
  import("./approve-route-dialog.tsx").then((module) => module.ApproveRouteDialog),
);
export const ChooseExitDialog = lazyPart(() =>
  import("./choose-exit-dialog.tsx").then((module) => module.ChooseExitDialog),
);
export const EditRouteDialog = lazyPart(() =>
  import("./edit-route-dialog.tsx").then((module) => module.EditRouteDialog),
);
export const RemoveApproverDialog = lazyPart(() =>
  import("./remove-approver-dialog.tsx").then((module) => module.RemoveApproverDialog),
);
export const RemoveRouteDialog = lazyPart(() =>
  import("./remove-route-dialog.tsx").then((module) => module.RemoveRouteDialog),
);
export const RouteDetailsDialog = lazyPart(() =>
  import("./route-details-dialog.tsx").then((module) => module.RouteDetailsDialog),
);
