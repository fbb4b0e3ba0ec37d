import { familyOf, ipFrom, ipToNumber, parseIp, parsePrefix, prefixContains } from "@weft/protocol";
import type { IpAddress, Prefix } from "@weft/protocol";

/**
 * Whether an address belongs to the public internet. Addresses that carry an IPv4 address inside are judged by that one:
 * on the way they become it.
 */
export function isPublicAddress(text: string): boolean {
  const parsed = parseIp(text.replace(/%.*$/, ""));
  if (!parsed.ok) return false;
  const inner = innerIpv4(parsed.value);
  if (inner) return isPublicAddress(inner);
  if (familyOf(parsed.value) === 6 && !GLOBAL_IPV6.some((prefix) => prefixContains(prefix, parsed.value))) return false;
  return !SPECIAL.some((prefix) => prefixContains(prefix, parsed.value));
}

function innerIpv4(address: IpAddress): IpAddress | undefined {
  const found = CARRIERS.find(({ prefix }) => prefixContains(prefix, address));
  return found && ipFrom(4, (ipToNumber(address) >> found.shift) & 0xffff_ffffn);
}

function prefixes(...texts: readonly string[]): readonly Prefix[] {
  return texts.map((text) => {
    const prefix = parsePrefix(text);
    if (!prefix.ok) throw new Error(`${text} is a prefix`);
    return prefix.value;
  });
}

/** IPv6 forms with an IPv4 address inside, and how far it stands from the right. `::1` comes out as 0.0.0.1: not public. */
const CARRIERS = [
  { texts: ["::ffff:0:0/96", "64:ff9b::/96", "::/96"], shift: 0n },
  { texts: ["2002::/16"], shift: 80n },
].flatMap(({ texts, shift }) => prefixes(...texts).map((prefix) => ({ prefix, shift })));

const GLOBAL_IPV6 = prefixes("2000::/3");
/** RFC 6890 and its successors. */
const SPECIAL = prefixes(
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "2001::/23",
  "2001:db8::/32",
  "3fff::/20",
);
