import { prefixContains, prefixParts, type Prefix } from "@weft/protocol";

import { isEverything, ofFamily, type RoadPlan } from "./road-plan.ts";

/** Name of the firewall table of an interface. */
export function firewallTable(interfaceName: string): string {
  return `weft_${interfaceName.replaceAll(/[^A-Za-z0-9]/g, "_")}`;
}

/** A table of our own: what may be forwarded between the tunnel and the networks behind this host, and under which address. */
export function forwardingTable(plan: RoadPlan): string {
  const parts = [
    ...(plan.exit ? [markChain(plan)] : []),
    ...(plan.serves.length + plan.clients.length > 0 ? [forwardChain(plan)] : []),
    ...(plan.serves.length > 0 ? [translationChain(plan)] : []),
  ];
  return `table inet ${firewallTable(plan.interfaceName)} {\n${parts.join("\n")}\n}\n`;
}

/** Answers to the tunnel's own datagrams carry its mark, so that a strict check of sources finds their way back. */
function markChain({ listenPort, mark }: RoadPlan): string {
  return chain("incoming", "type filter hook prerouting priority mangle; policy accept;", [
    `udp dport ${listenPort} meta mark set ${mark}`,
  ]);
}

function forwardChain({ interfaceName, serves, clients }: RoadPlan): string {
  const [from, to] = [`iifname "${interfaceName}"`, `oifname "${interfaceName}"`];
  const prefixes = serves.map(({ prefix }) => prefix);
  const networks = prefixes.filter((prefix) => !isEverything(prefix));
  const exits = prefixes.filter(isEverything);
  return chain("forward", "type filter hook forward priority filter; policy accept;", [
    // Who may reach whom through the tunnel is the map's affair; only static clients go in and out by the same door.
    ...matching("saddr", clients).map((match) => `${from} ${to} ${match} accept`),
    ...matching("daddr", clients).map((match) => `${from} ${to} ${match} accept`),
    `${from} ${to} drop`,
    `${to} tcp flags syn tcp option maxseg size set rt mtu`,
    ...matching("daddr", networks).map((match) => `${from} ${match} accept`),
    // An exit leads to the internet; a private network needs a route of its own.
    ...exits.map((prefix) => `${from} ${prefix.includes(":") ? PUBLIC_6 : PUBLIC_4} accept`),
    `${from} drop`,
    `${to} ct state established,related accept`,
    ...matching("saddr", networks).map((match) => `${to} ${match} accept`),
    `${to} drop`,
  ]);
}

/** The narrowest range decides, as it does about routes. */
function translationChain({ interfaceName, serves, ranges }: RoadPlan): string {
  const out = `oifname != "${interfaceName}"`;
  const narrowestFirst = serves.toSorted((left, right) => prefixLength(right.prefix) - prefixLength(left.prefix));
  return chain(
    "translate",
    "type nat hook postrouting priority srcnat; policy accept;",
    ranges.flatMap((range) =>
      narrowestFirst
        .filter(({ prefix }) => word(prefix) === word(range))
        .map(({ prefix, masquerade }) => {
          const into = isEverything(prefix) ? "" : ` ${word(prefix)} daddr ${prefix}`;
          return `${word(range)} saddr ${range}${into} ${out} ${masquerade === "on" ? "masquerade" : "accept"}`;
        }),
    ),
  );
}

function prefixLength(prefix: Prefix): number {
  return prefixParts(prefix).length;
}

/** One match per family that any of the prefixes belongs to. */
function matching(side: "saddr" | "daddr", prefixes: readonly Prefix[]): string[] {
  return ([4, 6] as const).flatMap((family) => {
    const own = ofFamily(prefixes, family);
    const [first] = own;
    return first ? [`${word(first)} ${side} { ${withoutInner(own).join(", ")} }`] : [];
  });
}

/** The kernel's sets refuse ranges that overlap, unless they are told to merge them; a range inside another says nothing. */
function withoutInner(prefixes: readonly Prefix[]): readonly Prefix[] {
  return prefixes.filter((prefix) => !prefixes.some((other) => other !== prefix && prefixContains(other, prefix)));
}

function word(prefix: Prefix): "ip" | "ip6" {
  return prefix.includes(":") ? "ip6" : "ip";
}

function chain(name: string, head: string, rules: readonly string[]): string {
  return [`  chain ${name} {`, `    ${head}`, ...rules.map((rule) => `    ${rule}`), "  }"].join("\n");
}

const PUBLIC_4 =
  "ip daddr != { 0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16, 224.0.0.0/3 }";
const PUBLIC_6 = "ip6 daddr != { ::/8, fc00::/7, fe80::/10, ff00::/8 }";
