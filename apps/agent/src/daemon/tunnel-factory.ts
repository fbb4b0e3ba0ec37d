import type { EngineTuning, Tunnel, TunnelError, TunnelEvent, TunnelOptions } from "@weft/dataplane";
import type { Result } from "@weft/protocol";

import type { Identity } from "../state/identity.ts";
import type { ConcealSetting } from "../settings/conceal.ts";
import type { Membership, StateStore } from "../state/state-store.ts";
import type { Log } from "./log.ts";
import type { MakeTunnel } from "./map-sync.ts";
import type { TunnelSystem } from "./tunnel-system.ts";

export type TunnelFactoryDeps = {
  readonly system: TunnelSystem;
  readonly store: StateStore;
  readonly log: Log;
  readonly identity: Identity;
  readonly membership: Membership;
  readonly tuning: EngineTuning;
  readonly conceal: ConcealSetting | null;
  readonly onEvent: (event: TunnelEvent) => void;
};

/** Makes the node's tunnel: leaves a note on disk first, so that a crash can be cleared away, and evades a busy port. */
export function createTunnelFactory(deps: TunnelFactoryDeps): MakeTunnel {
  return (self, mapSelf) => {
    const wishedPort = mapSelf.listenPort === 0 ? deps.membership.listenPort : mapSelf.listenPort;
    const saved = deps.store.saveTraces({ interfaceName: deps.membership.interfaceName });
    if (!saved.ok) deps.log.warn("traces_not_saved", { message: saved.error.message });
    const options = {
      ...self,
      interfaceName: deps.membership.interfaceName,
      privateKey: deps.identity.wireguardKey,
      engine: { firewallMark: TUNNEL_MARK, ...deps.tuning },
      ...(deps.conceal ? { conceal: deps.conceal.profile } : {}),
      onEvent: deps.onEvent,
    };
    const made = onFreePort(deps, options, wishedPort);
    if (made.ok && made.value.listenPort !== wishedPort) {
      deps.log.warn("port_taken", { wished: wishedPort, used: made.value.listenPort });
    }
    return made;
  };
}

/** On the tunnel's own datagrams, so that routing can keep them out of the tunnel; WEFT_FIREWALL_MARK sets another one. */
export const TUNNEL_MARK = 0x77_65_66;

/** Removes what an earlier process of ours left behind; says whether there was something. */
export function clearLeftovers(deps: Pick<TunnelFactoryDeps, "system" | "store" | "log">): void {
  const traces = deps.store.loadTraces();
  if (!traces.ok) return;
  const { interfaceName } = traces.value;
  const removed = deps.system.removeInterface(interfaceName);
  if (removed.ok) deps.log.info("leftovers_cleared", { interfaceName });
  else deps.log.warn("leftovers_stay", { interfaceName, message: removed.error.message });
  deps.store.clearTraces();
}

/** Tries the wished port, then the ones behind it, then any. */
function onFreePort(
  deps: TunnelFactoryDeps,
  options: Omit<TunnelOptions, "listenPort">,
  wishedPort: number,
): Result<Tunnel, TunnelError> {
  const ports =
    wishedPort === 0
      ? []
      : Array.from({ length: PORTS_TRIED }, (_, step) => wishedPort + step).filter((port) => port <= 65_535);
  for (const listenPort of ports) {
    const made = deps.system.createTunnel({ ...options, listenPort });
    if (made.ok || made.error.code !== "port_in_use") return made;
  }
  return deps.system.createTunnel({ ...options, listenPort: 0 });
}

const PORTS_TRIED = 16;
