/** What can be opened for a route of the table. */
export type RouteAction = "details" | "approve" | "edit" | "remove";
