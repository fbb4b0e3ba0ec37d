import type { PeerPathMtu } from "../tunnel.ts";
import { type CoreContext, rearm } from "./core-context.ts";
import { createPathMtu, isProven, type PathInput, type PathMtu, RAISE_AFTER_MS, stepPathMtu } from "./path-mtu.ts";
import { innerBytes, type PathBounds, pathBounds } from "./path-mtu-sizes.ts";
import { type Peer, pathProbesOf } from "./peer.ts";
import { wireEndpoint } from "./wire-address.ts";

/** A path to the peer begins to be used: its session came up, or it is reached elsewhere from now on. */
export function startPath(context: CoreContext, peer: Peer, nowMs: number): void {
  const bounds = boundsOf(context, peer);
  if (!bounds) return;
  adopt(context, peer, createPathMtu(bounds, peer.nextProbeId));
  feedPath(context, peer, { kind: "start", nowMs });
}

/** The peer's last session is gone. */
export function endPath(context: CoreContext, peer: Peer): void {
  const before = peer.pathMtu;
  peer.pathMtu = null;
  noteLimit(context, before, null);
}

/** Something about the path, and when it was seen. */
type Seen = PathInput & { readonly nowMs: number };

export function feedPath(context: CoreContext, peer: Peer, input: Seen): void {
  const { nowMs } = input;
  const { pathMtu: before, slot } = peer;
  if (!before) return;
  if (pathProbesOf(peer) === "sent") {
    const step = stepPathMtu(before, input, nowMs);
    adopt(context, peer, step.path);
    for (const { id, size } of step.probes) context.send({ kind: "send-probe", slot, size, id });
  } else adopt(context, peer, withoutProbes(before, input, nowMs));
  rearm(context, peer);
}

/** What the interface may be, or is allowed to become, changed. */
export function replaceMtu(context: CoreContext, mtu: CoreContext["mtu"], nowMs: number): void {
  context.mtu = mtu;
  refreshPaths(context, nowMs);
}

/** Something changed that says how large datagrams may be, or what is in them beside packets. */
export function refreshPaths(context: CoreContext, nowMs: number): void {
  for (const peer of context.peers.all()) {
    const bounds = boundsOf(context, peer);
    if (bounds) feedPath(context, peer, { kind: "bounds", bounds, nowMs });
  }
}

/** Tells the engine whether the peer's probes are answered; its bound stays what it is. */
export function allowProbes(context: CoreContext, peer: Peer): void {
  sendBound(context, peer);
}

function sendBound(context: CoreContext, peer: Peer): void {
  const { pathMtu: path, slot } = peer;
  const bound = path && pathProbesOf(peer) === "sent" && isProven(path) ? "proven" : "believed";
  context.send({ kind: "set-path-mtu", slot, payload: path?.limit ?? null, probes: answering(peer), bound });
}

export function pathMtuView(peer: Peer): PeerPathMtu {
  const { pathMtu } = peer;
  if (!pathMtu) return { state: "unknown" };
  return {
    state: pathMtu.phase.state,
    mtu: innerBytes(pathMtu.limit, pathMtu.bounds.overheadBytes),
    datagramBytes: pathMtu.limit,
  };
}

function adopt(context: CoreContext, peer: Peer, path: PathMtu): void {
  const before = peer.pathMtu;
  peer.pathMtu = path;
  peer.nextProbeId = path.nextId;
  noteLimit(context, before, path);
  // While a report was in doubt the engine may have lowered its own bound.
  const wasCleared = before !== null && before.hint !== null && path.hint === null;
  if (before?.limit === path.limit && isProven(before) === isProven(path) && !wasCleared) return;
  sendBound(context, peer);
}

/** Towards plain WireGuard nothing can be asked: what the system reports counts for a while. */
function withoutProbes(path: PathMtu, input: PathInput, nowMs: number): PathMtu {
  switch (input.kind) {
    case "too-big": {
      if (input.payload >= path.limit) return path;
      const raiseAtMs = nowMs + RAISE_AFTER_MS;
      const phase = { state: "reported", atMs: nowMs, raiseAtMs } as const;
      return { ...path, limit: Math.max(input.payload, path.bounds.floor), phase, verifyAtMs: raiseAtMs };
    }
    case "timeout":
      return path.verifyAtMs !== null && path.verifyAtMs <= nowMs ? createPathMtu(path.bounds, path.nextId) : path;
    case "bounds":
      return { ...createPathMtu(input.bounds, path.nextId), verifyAtMs: null };
    case "start":
    case "answered":
    case "large-sent":
      return path;
  }
}

function boundsOf(context: CoreContext, peer: Peer): PathBounds | null {
  const { active } = peer.choice;
  if (!active || peer.link.state === "down") return null;
  const family = wireEndpoint(active).address.length === 4 ? 4 : 6;
  return pathBounds({ family, ...context.mtu, probes: pathProbesOf(peer), paddingBytes: context.conceal.s4 });
}

function answering(peer: Peer): "answered" | "ignored" {
  return pathProbesOf(peer) === "sent" ? "answered" : "ignored";
}

/**
 * The interface gets the largest MTU that any path carries; the engine keeps each path within its own. All peers are looked at
 * only when the widest path has become narrower.
 */
function noteLimit(context: CoreContext, before: PathMtu | null, after: PathMtu | null): void {
  if (context.mtu.mtuMax <= context.mtu.mtu) return;
  const [was, is] = [knownMtu(before), knownMtu(after)];
  if (is > context.widestPath) context.widestPath = is;
  else if (was === context.widestPath && is < was) context.widestPath = widest(context);
  else return;
  context.emit({ kind: "mtu-wanted", mtu: context.widestPath });
}

function widest(context: CoreContext): number {
  let found = 0;
  for (const { pathMtu } of context.peers.all()) found = Math.max(found, knownMtu(pathMtu));
  return found;
}

function knownMtu(path: PathMtu | null): number {
  return path && path.phase.state !== "assumed" ? innerBytes(path.limit, path.bounds.overheadBytes) : 0;
}
