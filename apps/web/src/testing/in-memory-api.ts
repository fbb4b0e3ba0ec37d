import type { Peer, Token } from "../api/types.ts";
import { aGroup, aNetwork, aRule, at } from "./builders.ts";
import { type Handlers, Refusal } from "./in-memory-link.ts";
import { peopleHandlers } from "./in-memory-people.ts";
import { nameHandlers } from "./in-memory-names.ts";
import { routeHandlers } from "./in-memory-routes.ts";
import type { World } from "./world.ts";

export function aWorld(change: Partial<World> = {}): World {
  return {
    ownerExists: true,
    signedIn: true,
    networks: [aNetwork()],
    peers: [],
    groups: [],
    rules: [],
    ruleHits: [],
    flows: [],
    routes: [],
    approvers: [],
    records: [],
    nameservers: [],
    nameSettings: {
      networkId: "net_home",
      state: "on",
      domain: "weft.internal",
      searchDomains: [],
      leftAloneGroupIds: [],
    },
    keys: [],
    tokens: [],
    people: [],
    invites: [],
    sessions: [],
    providers: [],
    update: { state: "off", release: null, checkedAt: null, failure: null },
    role: "owner",
    secondFactor: "off",
    ...change,
  };
}

/** Answers calls from a world, and changes it as the control plane would. */
export function worldHandlers(world: World): Handlers {
  const user = { id: "user_owner", login: "ada", role: world.role } as const;
  const signedIn = (): void => {
    if (!world.signedIn) throw new Refusal(401, "unauthenticated");
  };
  const find = <Item extends { readonly id: string }>(items: readonly Item[], id: string): Item => {
    signedIn();
    const found = items.find((item) => item.id === id);
    if (!found) throw new Refusal(404, "not_found", `${id} does not exist`);
    return found;
  };
  const page = <Item>(items: Item[]): { items: Item[]; nextCursor: null } => {
    signedIn();
    return { items, nextCursor: null };
  };
  /** A new object, as every answer of a server is. */
  const changePeer = (peerId: string, change: Partial<Peer>): Peer => {
    const before = find(world.peers, peerId);
    const after = { ...before, ...change };
    world.peers = world.peers.map((peer) => (peer === before ? after : peer));
    return after;
  };

  return {
    "setup.status": () => ({ ownerExists: world.ownerExists, tokenRequired: false }),
    "setup.createOwner": ({ networkName }) => {
      const network = aNetwork({ name: networkName });
      Object.assign(world, { ownerExists: true, signedIn: true, networks: [network] });
      return { user, network };
    },
    "sessions.login": ({ password, code }) => {
      if (password !== "correct horse battery") throw new Refusal(401, "login_failed");
      if (world.secondFactor === "on" && code === undefined) throw new Refusal(401, "second_factor_needed");
      if (world.secondFactor === "on" && code !== "123456") throw new Refusal(401, "second_factor_wrong");
      world.signedIn = true;
      return { user };
    },
    "sessions.current": () => {
      signedIn();
      return { user };
    },
    ...peopleHandlers(world, page),
    ...routeHandlers(world, page),
    ...nameHandlers(world, page),
    "instance.get": () => ({
      version: "0.1.0",
      startedAt: at(600),
      serverKey: "k",
      publicUrl: "http://192.0.2.1:7400",
      update: world.update,
      database: { kind: "embedded", ok: true },
    }),
    "networks.list": () => page(world.networks),
    "networks.get": ({ networkId }) => find(world.networks, networkId),
    "networks.update": ({ networkId, ...said }) => {
      const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
      const after = { ...find(world.networks, networkId), ...given };
      world.networks = world.networks.map((network) => (network.id === networkId ? after : network));
      return after;
    },
    "networks.propose": () => ({ ipv4Range: "100.81.0.0/16", ipv6Range: "fd7a:9b2c:12::/48" }),
    "networks.create": ({ name }) => {
      const network = aNetwork({ id: `net_${name}`, name });
      world.networks.push(network);
      return network;
    },
    "peers.list": ({ networkId }) => page(world.peers.filter((peer) => peer.networkId === networkId)),
    "peers.get": ({ peerId }) => find(world.peers, peerId),
    "peers.update": ({ peerId, name, expiresAt, groupIds }) =>
      changePeer(peerId, {
        ...(groupIds !== undefined && { groupIds }),
        ...(name !== undefined && { name }),
        ...(expiresAt !== undefined && { expiresAt, state: "active" }),
      }),
    "peers.expire": ({ peerId }) => changePeer(peerId, { state: "expired", expiresAt: at(0), presence: "offline" }),
    "peers.approve": ({ peerId }) => changePeer(peerId, { state: "active" }),
    "peers.reject": ({ peerId }) => changePeer(peerId, { state: "rejected" }),
    "groups.list": () => page(world.groups),
    "groups.create": ({ networkId, name }) => {
      const group = aGroup({ id: `grp_${name}`, networkId, name });
      world.groups.push(group);
      return group;
    },
    "peers.remove": ({ peerId }) =>
      void (world.peers = world.peers.filter((peer) => peer !== find(world.peers, peerId))),
    "peers.ping": () => ({
      sent: 3,
      received: 3,
      rttMicroseconds: [900, 412, 430],
      endpoint: "203.0.113.7:51820",
      path: "direct",
    }),
    "rules.list": () => page(world.rules),
    "rules.hits": () => ({ items: world.ruleHits }),
    "flowLogs.list": ({ peerId }) => page(world.flows.filter((flow) => flow.peerId === peerId)),
    "flowLogs.top": ({ peerId }) => ({
      items: world.flows.filter((flow) => flow.peerId === peerId && flow.state === "open"),
    }),
    "rules.remove": ({ ruleId }) => void (world.rules = world.rules.filter((rule) => rule.id !== ruleId)),
    "rules.update": ({ ruleId, ...said }) => {
      const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
      const after = { ...find(world.rules, ruleId), ...given };
      world.rules = world.rules.map((rule) => (rule.id === ruleId ? after : rule));
      return after;
    },
    "rules.create": (said) => {
      const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
      const kind = said.source?.kind === "group" || said.destination?.kind === "group" ? "selected" : "all-to-all";
      const rule = aRule({ kind, id: `pol_${world.rules.length}`, createdAt: at(0), ...given });
      world.rules.push(rule);
      return rule;
    },
    "enrolmentKeys.list": () => page(world.keys),
    "enrolmentKeys.create": ({ networkId, usesMax, name = "" }) => ({
      id: "key_new",
      networkId,
      name,
      hint: "weft_enr_Zz9y",
      state: "valid",
      uses: 0,
      usesMax: usesMax ?? null,
      expiresAt: at(-3_600),
      groupIds: [],
      ephemeralSeconds: null,
      approval: "network",
      createdAt: at(0),
      createdBy: user.id,
      key: "weft_enr_SECRET.PIN",
      joinLine: 'f=$(mktemp) && curl http://192.0.2.1:7400/install.sh -o "$f" && sh "$f" weft_enr_SECRET.PIN',
      joinCommand: "weft join http://192.0.2.1:7400 weft_enr_SECRET.PIN",
    }),
    "tokens.list": () => page(world.tokens),
    "tokens.create": ({ name, scopes }) => {
      const token: Token = {
        id: "tok_new",
        name,
        hint: "weft_pat_Nn0w",
        scopes,
        userId: user.id,
        createdBy: user.id,
        createdAt: at(0),
        lastUsedAt: null,
        expiresAt: null,
      };
      world.tokens.push(token);
      return { ...token, token: "weft_pat_THESECRET" };
    },
    "tokens.revoke": ({ tokenId }) => void (world.tokens = world.tokens.filter((token) => token.id !== tokenId)),
  };
}
