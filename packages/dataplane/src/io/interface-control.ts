import type { Prefix, Result } from "@weft/protocol";
import type { TunnelError, TunnelSelf } from "../tunnel.ts";

/** What the operating system can be told about one interface; methods throw what the system refuses. */
export type InterfacePort = {
  readonly bringUp: (mtu: number) => void;
  readonly addAddress: (prefix: Prefix) => void;
  readonly removeAddress: (prefix: Prefix) => void;
  readonly addRoute: (prefix: Prefix) => void;
  readonly removeRoute: (prefix: Prefix) => void;
  /** "harmless": it was so already, or there was nothing to remove. */
  readonly explain: (thrown: unknown) => TunnelError | "harmless";
};

/** Keeps an interface as its owner wants it. */
export type InterfaceControl = {
  readonly replaceSelf: (self: TunnelSelf) => Result<void, TunnelError>;
};

export function createInterfaceControl(port: InterfacePort): InterfaceControl {
  let applied: TunnelSelf = { addresses: [], routes: [], mtu: 0 };

  const attempt = (run: () => void): TunnelError | null => {
    try {
      run();
      return null;
    } catch (thrown) {
      const error = port.explain(thrown);
      return error === "harmless" ? null : error;
    }
  };

  return {
    replaceSelf(self) {
      const before = applied;
      const moved = !sameSet(before.addresses, self.addresses);
      const steps = [
        ...without(self.addresses, before.addresses).map((prefix) => () => port.addAddress(prefix)),
        ...(self.mtu === before.mtu ? [] : [() => port.bringUp(self.mtu)]),
        ...without(before.routes, self.routes).map((prefix) => () => port.removeRoute(prefix)),
        ...without(before.addresses, self.addresses).map((prefix) => () => port.removeAddress(prefix)),
        // The kernel drops the routes of an address that goes, so after a move all are set again.
        ...(moved ? self.routes : without(self.routes, before.routes)).map((prefix) => () => port.addRoute(prefix)),
      ];
      for (const step of steps) {
        const error = attempt(step);
        if (error) return { ok: false, error };
      }
      applied = self;
      return { ok: true, value: undefined };
    },
  };
}

function without(from: readonly Prefix[], others: readonly Prefix[]): readonly Prefix[] {
  return from.filter((prefix) => !others.includes(prefix));
}

function sameSet(left: readonly Prefix[], right: readonly Prefix[]): boolean {
  return without(left, right).length === 0 && without(right, left).length === 0;
}
