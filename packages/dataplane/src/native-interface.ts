import { constants } from "node:os";
import type { Result } from "@weft/protocol";
import type { CipherSpeed } from "./cipher-choice.ts";
import type { InterfacePort } from "./io/interface-control.ts";
import { errnoOf, fromNativeError, nativeAddon, type NativeAddon, type NativeLink } from "./native.ts";
import type { TunnelError } from "./tunnel.ts";

/** One network interface of this machine; `addresses` are `address/length` with host bits. */
export type HostInterface = Readonly<Omit<NativeLink, "addresses">> & { readonly addresses: readonly string[] };

/** All interfaces of this machine with their addresses. */
export function interfaceAddresses(): Result<readonly HostInterface[], TunnelError> {
  return withAddon((addon) => addon.links());
}

/** Removes an interface, for instance one that a crash left behind; one that does not exist is fine. */
export function removeInterface(name: string): Result<void, TunnelError> {
  return withAddon((addon) => {
    if (addon.linkInfo(name)) addon.deleteLink(name);
  });
}

/** Sends one echo request; the value is the round trip in microseconds. */
export async function ping(address: string, timeoutMs: number): Promise<Result<number, TunnelError>> {
  const addon = nativeAddon();
  if (!addon.ok) return addon;
  try {
    return { ok: true, value: await addon.value.ping(address, timeoutMs) };
  } catch (thrown) {
    return { ok: false, error: fromNativeError(thrown, "interface_failed") };
  }
}

/** Measures every cipher for about three milliseconds altogether. */
export function measureCiphers(): Result<readonly CipherSpeed[], TunnelError> {
  return withAddon((addon) => addon.measureCiphers());
}

/** The addon's netlink calls for one interface. */
export function nativeInterfacePort(addon: NativeAddon, name: string): InterfacePort {
  return {
    bringUp: (mtu) => addon.setLink(name, { mtu, up: true }),
    addAddress: (prefix) => addon.addAddress(name, prefix),
    removeAddress: (prefix) => addon.removeAddress(name, prefix),
    addRoute: (prefix) => addon.addRoute(name, prefix),
    removeRoute: (prefix) => addon.removeRoute(name, prefix),
    explain(thrown) {
      const errno = errnoOf(thrown);
      return errno !== null && HARMLESS.has(errno) ? "harmless" : fromNativeError(thrown, "interface_failed");
    },
  };
}

function withAddon<T>(run: (addon: NativeAddon) => T): Result<T, TunnelError> {
  const addon = nativeAddon();
  if (!addon.ok) return addon;
  try {
    return { ok: true, value: run(addon.value) };
  } catch (thrown) {
    return { ok: false, error: fromNativeError(thrown, "interface_failed") };
  }
}

/** Already there; no such route; no such address. */
const HARMLESS = new Set([constants.errno.EEXIST, constants.errno.ESRCH, constants.errno.EADDRNOTAVAIL]);
