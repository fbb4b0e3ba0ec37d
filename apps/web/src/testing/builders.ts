import type {
  Account,
  EnrolmentKey,
  FlowRecord,
  Group,
  LinkSample,
  Network,
  Peer,
  Route,
  PeerSample,
  Rule,
  Session,
  Token,
} from "../api/types.ts";

/** The moment at which the tests play. */
export const NOW = Date.parse("2026-03-01T12:00:00.000Z");

export function at(secondsAgo: number): string {
  return new Date(NOW - secondsAgo * 1000).toISOString();
}

export function aNetwork(change: Partial<Network> = {}): Network {
  return {
    id: "net_home",
    name: "home",
    ipv4Range: "100.80.0.0/16",
    ipv6Range: "fd7a:9b2c:11::/48",
    peerCount: 0,
    onlineCount: 0,
    profileFallback: "refuse",
    approval: "automatic",
    membershipSeconds: null,
    idleRemovalSeconds: null,
    flowSampling: null,
    flowKeepHours: 168,
    createdAt: at(86_400),
    ...change,
  };
}

export function aPeer(change: Partial<Peer> = {}): Peer {
  const name = change.name ?? "web-1";
  return {
    id: `peer_${name}`,
    networkId: "net_home",
    name,
    kind: "node",
    gatewayPeerId: null,
    publicKey: "rMwYC7ZxG5vQpQ2nJ0oQb7yC0pXk1n0m6uJ7p4h2k1E=",
    fingerprint: "7f3a:91c2:0be4:d815",
    ipv4: "100.80.0.1",
    ipv6: "fd7a:9b2c:11::1",
    state: "active",
    expiresAt: null,
    groupIds: [],
    ephemeralSeconds: null,
    removalAt: null,
    presence: "online",
    lastSeenAt: at(2),
    endpoint: "203.0.113.7:51820",
    endpoints: [
      { address: "203.0.113.7:51820", source: "observed" },
      { address: "10.0.0.7:51820", source: "interface" },
    ],
    os: "linux",
    arch: "x64",
    agentVersion: "0.1.0",
    createdAt: at(3_600),
    map: { state: "applied", sequence: 7, appliedAfterMs: 42 },
    exit: null,
    problems: [],
    clockSkewMs: 0,
    forbiddenJobs: [],
    rxBytes: "0",
    txBytes: "0",
    ...change,
  };
}

export function aLink(change: Partial<LinkSample> = {}): LinkSample {
  return {
    peerId: "peer_db-1",
    name: "db-1",
    rxBitsPerSecond: 1_200_000_000,
    txBitsPerSecond: 40_000_000,
    rxBytes: "18000000000",
    txBytes: "410000000",
    endpoint: "203.0.113.8:51820",
    sessionAgeSeconds: 83,
    lastHandshakeAgeSeconds: 83,
    drops: {},
    ...change,
  };
}

export function aPeerSample(change: Partial<PeerSample> = {}): PeerSample {
  return {
    kind: "sample",
    atMs: NOW,
    rxBitsPerSecond: 1_200_000_000,
    txBitsPerSecond: 40_000_000,
    rxBytes: "20000000000",
    txBytes: "900000000",
    links: [aLink()],
    drops: {},
    stages: [],
    offload: [],
    cpuPercent: 12,
    rssBytes: 71_000_000,
    ...change,
  };
}

export function aGroup(change: Partial<Group> = {}): Group {
  return {
    id: "grp_servers",
    networkId: "net_home",
    name: "servers",
    description: "",
    peerCount: 0,
    createdAt: at(86_400),
    ...change,
  };
}

export function aFlow(change: Partial<FlowRecord> = {}): FlowRecord {
  return {
    id: "flw_1",
    networkId: "net_home",
    peerId: "peer_web",
    otherPeerId: null,
    protocol: 6,
    source: "100.80.0.1",
    destination: "100.80.0.2",
    sourcePort: 40_000,
    destinationPort: 443,
    icmpType: null,
    direction: "out",
    verdict: "allow",
    ruleId: "pol_all",
    rxPackets: "10",
    rxBytes: "1000",
    txPackets: "20",
    txBytes: "2000",
    drops: "0",
    startedAt: at(60),
    lastAt: at(2),
    state: "open",
    ...change,
  };
}

export function aRule(change: Partial<Rule> = {}): Rule {
  return {
    id: "pol_all",
    networkId: "net_home",
    kind: "all-to-all",
    name: "",
    description: "",
    action: "allow",
    state: "on",
    source: { kind: "all" },
    destination: { kind: "all" },
    direction: "both-ways",
    protocol: null,
    ports: null,
    icmpType: null,
    icmpCode: null,
    number: 1,
    place: 0,
    createdAt: at(86_400),
    ...change,
  };
}

export function aRoute(change: Partial<Route> = {}): Route {
  return {
    id: "rt_1",
    networkId: "net_home",
    peerId: "peer_web-1",
    prefix: "192.168.1.0/24",
    description: "",
    kind: "subnet",
    state: "approved",
    active: true,
    router: "online",
    masquerade: true,
    priority: 100,
    conflicts: [],
    createdAt: at(3_600),
    ...change,
  };
}

export function anEnrolmentKey(change: Partial<EnrolmentKey> = {}): EnrolmentKey {
  return {
    id: "key_1",
    networkId: "net_home",
    name: "",
    hint: "weft_enr_Ab3d",
    state: "valid",
    uses: 1,
    usesMax: 10,
    expiresAt: at(-3_000),
    groupIds: [],
    ephemeralSeconds: null,
    approval: "network",
    createdAt: at(600),
    createdBy: "user_owner",
    ...change,
  };
}

export function anAccount(change: Partial<Account> = {}): Account {
  return {
    id: "user_owner",
    login: "ada",
    role: "owner",
    networkRoles: [],
    grants: [],
    state: "active",
    hasPassword: true,
    hasSecondFactor: false,
    lastLoginAt: at(60),
    createdAt: at(7_200),
    ...change,
  };
}

export function aSession(change: Partial<Session> = {}): Session {
  return {
    id: "ses_1",
    userId: "user_owner",
    login: "ada",
    address: "192.0.2.7",
    userAgent: "Browser on a desk",
    isCurrent: true,
    createdAt: at(7_200),
    lastSeenAt: at(30),
    expiresAt: at(-86_400),
    ...change,
  };
}

export function aToken(change: Partial<Token> = {}): Token {
  return {
    id: "tok_1",
    name: "backup script",
    hint: "weft_pat_x7Kq",
    scopes: ["peers:read"],
    userId: "user_owner",
    createdBy: "user_owner",
    createdAt: at(7_200),
    lastUsedAt: null,
    expiresAt: null,
    ...change,
  };
}
