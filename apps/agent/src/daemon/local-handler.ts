import { err, ok, parseIp, type IpAddress, type MapPeer, type NetworkMap, type Result } from "@weft/protocol";

import type { Membership } from "../state/state-store.ts";
import type { Timers } from "../stream/timers.ts";
import { flowsView } from "./flows-view.ts";
import type { LocalHandler } from "./local-api.ts";
import type { LocalRequest } from "./local-protocol.ts";
import type { MeshNode } from "./node.ts";
import { pingPeer, type PingOnce } from "./ping-peer.ts";
import type { Profiling } from "./profiling.ts";
import { statusView } from "./status-view.ts";

export type LocalHandlerDeps = {
  readonly node: MeshNode;
  readonly membership: Membership;
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  readonly pingOnce: PingOnce;
  readonly profiling: Profiling;
  /** The debug bundle. */
  readonly debug: (addresses: "keep" | "redact") => unknown;
  /** Resolves when the first map is applied, or with the reason why not. */
  readonly ready: Promise<Result<undefined, LocalFailure>>;
  readonly leave: () => Promise<Result<undefined, LocalFailure>>;
  readonly stop: () => void;
};

export type LocalFailure = { readonly code: string; readonly message: string };

/** Answers the command line. */
export function createLocalHandler(deps: LocalHandlerDeps): LocalHandler {
  const status = (): Result<unknown, LocalFailure> =>
    ok(statusView(deps.node, deps.membership, { nowMs: deps.timers.nowMs(), wallClockMs: deps.wallClockMs() }));
  return async (request, call) => {
    switch (request.method) {
      case "status":
        return status();
      case "waitReady": {
        const ready = await withinTime(deps, request.timeoutMs);
        return ready.ok ? status() : ready;
      }
      case "ping":
        return ping(deps, request, call);
      case "profileRun":
        return deps.profiling.run(request, call.gone);
      case "profileStart":
        return deps.profiling.start(request.frequencyHz);
      case "profileStop":
        return deps.profiling.stop(request.format);
      case "flows":
        return ok(flowsView(deps.node.sync.tunnel(), deps.node.sync.map(), request.flowsMax));
      case "debug":
        return ok(deps.debug(request.addresses));
      case "injectPanic": {
        const tunnel = deps.node.sync.tunnel();
        return tunnel ? tunnel.injectPanic(request.shard) : err({ code: "not_ready", message: "there is no tunnel" });
      }
      case "stop":
        // The answer goes out first.
        deps.timers.after(10, deps.stop);
        return ok({ stopping: true });
      case "leave": {
        const left = await deps.leave();
        if (left.ok) deps.timers.after(10, deps.stop);
        return left.ok ? ok({ left: true }) : left;
      }
    }
  };
}

/** Finds a peer by name or by either address. */
export function findPeer(map: NetworkMap, text: string): { readonly peer: MapPeer; readonly target: IpAddress } | null {
  const address = parseIp(text);
  if (address.ok) {
    const byAddress = map.peers.find((peer) => peer.ipv4 === address.value || peer.ipv6 === address.value);
    return byAddress ? { peer: byAddress, target: address.value } : null;
  }
  const byName = map.peers.find((peer) => peer.name === text.toLowerCase() || peer.id === text);
  const target = byName?.ipv4 ?? byName?.ipv6 ?? null;
  return byName && target ? { peer: byName, target } : null;
}

async function ping(
  deps: LocalHandlerDeps,
  request: Extract<LocalRequest, { method: "ping" }>,
  call: Parameters<LocalHandler>[1],
): Promise<Result<unknown, LocalFailure>> {
  const map = deps.node.sync.map();
  if (!map) return err({ code: "not_ready", message: "this node has no map yet" });
  const found = findPeer(map, request.peer);
  if (!found)
    return err({
      code: "unknown_peer",
      message: `no peer "${request.peer}" that this node may reach; "weft status" lists them`,
    });
  call.event({ kind: "start", name: found.peer.name, target: found.target });
  const summary = await pingPeer(deps, {
    target: found.target,
    count: request.count,
    intervalMs: request.intervalMs,
    timeoutMs: request.timeoutMs,
    onReply: (reply) => call.event({ kind: "reply", ...reply }),
    stopped: call.gone,
  });
  return ok({
    peer: found.peer.name,
    target: found.target,
    ...summary,
    endpoint: deps.node.peerState(found.peer)?.endpoint ?? null,
  });
}

async function withinTime(deps: LocalHandlerDeps, timeoutMs: number): Promise<Result<undefined, LocalFailure>> {
  let cancel = (): void => {};
  const late = new Promise<Result<undefined, LocalFailure>>((resolve) => {
    cancel = deps.timers.after(timeoutMs, () => {
      const state = deps.node.control.state();
      const reason = state.state === "waiting" ? `: ${state.reason}` : "";
      resolve(err({ code: "timeout", message: `no network map within ${timeoutMs / 1000} s${reason}` }));
    });
  });
  const outcome = await Promise.race([deps.ready, late]);
  cancel();
  return outcome;
}
