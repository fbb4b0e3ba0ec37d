/** What one can do to a peer from its row or page. */
export type PeerAction = "rename" | "groups" | "remove";
