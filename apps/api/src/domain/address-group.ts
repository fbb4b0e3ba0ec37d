import { parseIpv6 } from "@weft/protocol";

/**
 * Whose limits an address counts towards. One subscriber holds a whole /64 of IPv6, so all of it is one subject; an IPv4
 * address is its own, and so is a name such as that of the local socket.
 */
export function addressGroup(address: string): string {
  const parsed = parseIpv6(address.replace(/%.*$/, ""));
  if (!parsed.ok) return address;
  const [head = "", tail] = parsed.value.split("::");
  const left = groupsOf(head);
  const right = groupsOf(tail ?? "");
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => "0"), ...right];
  return `${groups.slice(0, GROUPS / 2).join(":")}::/64`;
}

/** An embedded IPv4 address stands for two groups. */
function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":").flatMap((group) => (group.includes(".") ? [group, group] : [group]));
}

const GROUPS = 8;
