import type { HostInterface } from "@weft/dataplane";

import type { Timers } from "../stream/timers.ts";

/** Notices that the host's addresses change, by looking every second. */
export type AddressWatch = { readonly start: () => void; readonly stop: () => void };

export type AddressWatchDeps = {
  readonly timers: Timers;
  /** `null` when the system does not say. */
  readonly interfaces: () => readonly HostInterface[] | null;
  /** Own address of the control stream; `null` when unknown. */
  readonly streamAddress: () => string | null;
  readonly onChange: () => void;
  /** Called with every look. */
  readonly onLook: (interfaces: readonly HostInterface[]) => void;
  /** The stream's own address is gone: the stream hangs on nothing (ND-5). */
  readonly onStreamAddressLost: (address: string) => void;
};

export function createAddressWatch(deps: AddressWatchDeps): AddressWatch {
  let seen: string | null = null;
  let cancel = (): void => {};
  const look = (): void => {
    const interfaces = deps.interfaces();
    const addresses = interfaces
      ?.flatMap((link) => (link.up ? link.addresses : []))
      .map((cidr) => cidr.split("/")[0] ?? "");
    if (addresses) compare(addresses);
    if (interfaces) deps.onLook(interfaces);
    cancel = deps.timers.after(INTERVAL_MS, look);
  };
  const compare = (addresses: readonly string[]): void => {
    const now = JSON.stringify(addresses);
    const before = seen;
    seen = now;
    if (before === null || before === now) return;
    const own = deps.streamAddress()?.replace(/^::ffff:/, "");
    if (own && !addresses.includes(own)) deps.onStreamAddressLost(own);
    deps.onChange();
  };
  return { start: look, stop: () => cancel() };
}

const INTERVAL_MS = 1_000;
