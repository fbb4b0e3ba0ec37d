import type { Result } from "@weft/protocol";
import type { CoreContext, Moment } from "../core/core-context.ts";
import type { TunnelCore } from "../core/tunnel-core.ts";
import type { TunnelError, TunnelSelf } from "../tunnel.ts";
import type { InterfaceControl } from "./interface-control.ts";

/** Keeps the MTU of interface and engine together, between what is configured and what paths carry. */
export type MtuControl = {
  /** Paths carry packets of this size. */
  readonly wish: (mtu: number) => "changed" | "same";
  readonly replaceSelf: (self: TunnelSelf, at: Moment) => Result<void, TunnelError>;
};

export type MtuControlInput = {
  readonly core: Pick<TunnelCore, "replaceMtu" | "setInterfaceMtu">;
  readonly interfaceControl: InterfaceControl;
  readonly self: TunnelSelf;
};

export function createMtuControl(input: MtuControlInput): MtuControl {
  const { core, interfaceControl } = input;
  let { self } = input;
  let wished = self.mtu;
  let applied = self.mtu;

  const apply = (): Result<void, TunnelError> => {
    const { mtu, mtuMax } = mtuBounds(self);
    const next = Math.min(Math.max(mtu, wished), mtuMax);
    const done = interfaceControl.replaceSelf({ ...self, mtu: next });
    if (done.ok && next !== applied) {
      core.setInterfaceMtu(next);
      applied = next;
    }
    return done;
  };

  return {
    wish(mtu) {
      const before = applied;
      wished = mtu;
      if (Math.max(mtu, self.mtu) !== before) apply();
      return applied === before ? "same" : "changed";
    },
    replaceSelf(next, at) {
      self = next;
      const done = apply();
      core.replaceMtu(mtuBounds(next), at);
      return done;
    },
  };
}

export function mtuBounds(self: TunnelSelf): CoreContext["mtu"] {
  return { mtu: self.mtu, mtuMax: Math.max(self.mtu, self.mtuMax ?? self.mtu) };
}
