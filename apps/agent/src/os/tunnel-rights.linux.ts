import { accessSync, constants, readFileSync } from "node:fs";

/**
 * Why this process cannot make a tunnel; `null` when nothing speaks against it. Asked before an enrolment key is spent, so
 * that a missing right costs nothing.
 */
export function whyNoTunnel(): string | null {
  if (process.platform !== "linux") return `tunnels are made on Linux only so far, this is ${process.platform}`;
  if (!hasNetAdmin()) return "making a network interface needs root (or the capability CAP_NET_ADMIN); try with sudo";
  try {
    accessSync("/dev/net/tun", constants.R_OK | constants.W_OK);
    return null;
  } catch {
    return "/dev/net/tun cannot be opened; load the kernel's tun module (modprobe tun), or give the container that device";
  }
}

function hasNetAdmin(): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  return ((BigInt(`0x${effective}`) >> CAP_NET_ADMIN) & 1n) === 1n;
}

const CAP_NET_ADMIN = 12n;
