import { plural } from "./plural.ts";

export const overview = {
  title: "Overview",
  loading: "Loading the network",
  sentence: (online: number, total: number, rate: string) =>
    plural(total, { one: `${online} of # peer online, ${rate}`, other: `${online} of # peers online, ${rate}` }),
  applied: "all changes applied",
  pending: (count: number) =>
    plural(count, {
      one: "# peer has not applied the newest change",
      other: "# peers have not applied the newest change",
    }),
  quiet: "Nothing needs your attention.",
  attention: {
    title: "Needs attention",
    offline: (name: string) => `${name} is offline`,
    offlineHint: "Its tunnels stay up as long as the host runs; the server just does not hear from it.",
    unknown: (name: string) => `${name} has not been heard of since the server started`,
    pending: (name: string) => `${name} has not applied the newest change`,
    pendingHint: "It will when its agent is connected.",
    seen: "Last seen",
    open: "Look at it",
    openPeer: (name: string) => `Look at peer ${name}`,
    more: (count: number) => plural(count, { one: "and # more", other: "and # more" }),
    problem: (name: string) => `${name} has a problem`,
    noRule: "No rule allows anything",
    noRuleHint: "Peers see each other, but every packet is denied.",
    openPolicy: "Open policy",
    routesWait: (count: number) =>
      plural(count, { one: "# route waits for approval", other: "# routes wait for approval" }),
    routesWaitHint: "Nothing goes there before an admin approves it.",
    openRoutes: "Look at routes",
  },
  throughput: "Throughput of the network",
  throughputHint: "All peers together, one point a second: received above the axis, sent below.",
  chartLabel: (rx: string, tx: string) => `Throughput of the network now: received ${rx}, sent ${tx}`,
  talkers: {
    title: "Top talkers",
    hint: "Peers with the most traffic in the last minute.",
    none: "Nobody talked in the last minute.",
  },
  ranges: { title: "Network", ipv4: "IPv4 range", ipv6: "IPv6 range", created: "Created", none: "none" },
  empty: "No host has joined yet",
  emptyHint: "Two hosts are enough to see the first ping.",
  add: "Add hosts",
};
