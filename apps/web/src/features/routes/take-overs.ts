import type { AuditEvent, Route } from "../../api/types.ts";
import { pageStrings } from "../../strings/pages.ts";
import { type PeersById, peerName } from "./route-text.ts";

/** One router of a range took over from another. */
export type TakeOver = {
  readonly at: string;
  readonly prefix: string;
  readonly from: string | null;
  readonly to: string;
};

/** Reads an event of the audit log; null when it tells something else. */
export function readTakeOver({ at, action, objectId, before, after }: AuditEvent): TakeOver | null {
  const prefix = field(after, "prefix");
  if (action !== "routes.takeOver" || objectId === null || prefix === null) return null;
  return { at, prefix, from: field(before, "routeId"), to: objectId };
}

/** The newest take-over of each range. Events come newest first. */
export function newestTakeOvers(events: readonly AuditEvent[]): ReadonlyMap<string, TakeOver> {
  const newest = new Map<string, TakeOver>();
  for (const event of events) {
    const takeOver = readTakeOver(event);
    if (takeOver && !newest.has(takeOver.prefix)) newest.set(takeOver.prefix, takeOver);
  }
  return newest;
}

/** Why a route took over, as the beginning of a sentence that ends with the time. */
export function takeOverText(route: Route, from: Route | undefined, peers: PeersById): string {
  const text = pageStrings.routes.took;
  if (!from) return text.unknown;
  // The server leaves a router that answers alone, unless a preferred one answers again.
  const reason = route.priority < from.priority && from.router === "online" ? text.preferred : text.lost;
  return reason(peerName(peers, from.peerId));
}

function field(value: unknown, name: string): string | null {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : null;
  return typeof found === "string" ? found : null;
}
