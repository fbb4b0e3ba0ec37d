import { err, ok } from "@weft/protocol";
import type { Failure } from "../../domain/failure.ts";
import { roleCovers } from "../../registry/access.ts";
import { contracts } from "../../registry/contracts.ts";
import type { NetworkSettingsPart, ServiceAccountPart, WebhookPart } from "./document.ts";
import type { Kind } from "./kind.ts";
import { everything, fault } from "./work.ts";

/** Networks with their own settings; what is inside them has kinds of its own. */
export const networksKind: Kind<NetworkSettingsPart, null> = {
  kind: "networks",
  keyOf: ({ name }) => name.toLowerCase(),
  async read(work) {
    const all = await everything(work, contracts.networks.list);
    return all.ok ? ok(all.value.map((network) => ({ id: network.id, item: settingsOf(network) }))) : all;
  },
  async create(work, _place, { name, ipv4Range, ipv6Range, ...settings }) {
    const made = await work.perform(contracts.networks.create, { name, ipv4Range, ipv6Range });
    return made.ok ? work.perform(contracts.networks.update, { networkId: made.value.id, ...settings }) : made;
  },
  async change(work, _place, { id, before, after: { ipv4Range, ipv6Range, ...settings } }) {
    if (ipv4Range !== before.ipv4Range || ipv6Range !== before.ipv6Range) {
      return err(
        fault(`networks/${before.name}`, "the ranges of a network do not change; make another one and move its peers"),
      );
    }
    return work.perform(contracts.networks.update, { networkId: id, ...settings });
  },
  remove: (work, _place, { id }) => work.perform(contracts.networks.remove, { networkId: id }),
  adopt: (wanted, before) => ({
    ...settingsOf(wanted),
    ipv4Range: wanted.ipv4Range === undefined ? before?.ipv4Range : wanted.ipv4Range,
    ipv6Range: wanted.ipv6Range === undefined ? before?.ipv6Range : wanted.ipv6Range,
  }),
  dangers(before, after) {
    if (!after) return ["its peers, keys and rules go with it, and every agent is told to leave"];
    return [
      ...(after.approval === "automatic" && before?.approval === "required" ? ["new peers get in by themselves"] : []),
      ...(after.profileFallback === "plain" && before?.profileFallback === "refuse"
        ? ["nodes without a common profile talk in plain WireGuard"]
        : []),
      ...(isShorter(before?.idleRemovalSeconds, after.idleRemovalSeconds)
        ? ["peers that are away are removed sooner"]
        : []),
      ...(before && after.flowKeepHours < before.flowKeepHours
        ? ["flows that were reported are forgotten sooner"]
        : []),
    ];
  },
};

function isShorter(before: number | null | undefined, after: number | null): boolean {
  return after !== null && after < (before ?? Number.POSITIVE_INFINITY);
}

function settingsOf(network: NetworkSettingsPart): NetworkSettingsPart {
  const { name, ipv4Range, ipv6Range, profileFallback, approval, membershipSeconds, idleRemovalSeconds } = network;
  const { flowSampling, flowKeepHours } = network;
  return {
    name,
    ipv4Range,
    ipv6Range,
    profileFallback,
    approval,
    membershipSeconds,
    idleRemovalSeconds,
    flowSampling,
    flowKeepHours,
  };
}

/** Webhooks; a new one's secret is shown once. */
export const webhooksKind: Kind<WebhookPart, null> = {
  kind: "webhooks",
  keyOf: ({ name }) => name,
  async read(work) {
    const all = await everything(work, contracts.webhooks.list);
    if (!all.ok) return all;
    const found = all.value.map(({ id, name, url, actions, state }) => ({ id, item: { name, url, actions, state } }));
    const twin = twinOf(found.map(({ item }) => item.name));
    return twin === undefined
      ? ok(found)
      : err(fault("webhooks", `two are called ${twin}: give one another name first`));
  },
  async create(work, _place, item) {
    const made = await work.perform(contracts.webhooks.create, item);
    if (made.ok) {
      const { secret } = made.value;
      work.secrets.push({ kind: "webhooks", network: null, name: item.name, secret, joinLine: null });
    }
    return made;
  },
  change: (work, _place, { id, after }) => work.perform(contracts.webhooks.update, { webhookId: id, ...after }),
  remove: (work, _place, { id }) => work.perform(contracts.webhooks.remove, { webhookId: id }),
  dangers(before, after) {
    if (!after) return ["what waits to be sent is not sent any more, and its log goes"];
    return before && before.url !== after.url ? ["events go to another address"] : [];
  },
};

function twinOf(names: readonly string[]): string | undefined {
  return names.find((name, place) => names.indexOf(name) !== place);
}

/** Accounts of programs; their tokens are made elsewhere. */
export const serviceAccountsKind: Kind<ServiceAccountPart, null> = {
  kind: "serviceAccounts",
  keyOf: ({ login }) => login.toLowerCase(),
  async read(work) {
    const all = await everything(work, contracts.serviceAccounts.list);
    if (!all.ok) return all;
    const networks = await everything(work, contracts.networks.list);
    if (!networks.ok) return networks;
    const names = new Map<string, string>(networks.value.map(({ id, name }) => [id, name]));
    return ok(
      all.value.map(({ id, login, role, networkRoles, state }) => ({
        id,
        item: {
          login,
          role,
          networkRoles: networkRoles
            .flatMap(({ networkId, role: given }) => {
              const network = names.get(networkId);
              return network === undefined ? [] : [{ network, role: given }];
            })
            .toSorted(byNetwork),
          state: state === "active" ? ("on" as const) : ("off" as const),
        },
      })),
    );
  },
  async create(work, _place, { login, role, networkRoles, state }) {
    const networks = await everything(work, contracts.networks.list);
    if (!networks.ok) return networks;
    const ids = new Map(networks.value.map(({ id, name }) => [name.toLowerCase(), id]));
    const missing = networkRoles.find(({ network }) => !ids.has(network.toLowerCase()));
    if (missing) return err(unknownNetwork(login, missing.network));
    const made = await work.perform(contracts.serviceAccounts.create, {
      login,
      role,
      networkRoles: networkRoles.map((given) => ({
        networkId: ids.get(given.network.toLowerCase()) ?? "",
        role: given.role,
      })),
    });
    if (!made.ok || state === "on") return made;
    return work.perform(contracts.serviceAccounts.disable, { serviceAccountId: made.value.id });
  },
  async change(work, _place, { id, before, after }) {
    if (before.role !== after.role || JSON.stringify(before.networkRoles) !== JSON.stringify(after.networkRoles)) {
      return err(
        fault(`serviceAccounts/${after.login}`, "the rights of a service account do not change; make another one"),
      );
    }
    if (before.login !== after.login) return err(fault(`serviceAccounts/${after.login}`, "a login keeps its spelling"));
    const contract = after.state === "on" ? contracts.serviceAccounts.enable : contracts.serviceAccounts.disable;
    return work.perform(contract, { serviceAccountId: id });
  },
  remove: (work, _place, { id }) => work.perform(contracts.serviceAccounts.remove, { serviceAccountId: id }),
  adopt: (wanted) => ({ ...wanted, networkRoles: wanted.networkRoles.toSorted(byNetwork) }),
  dangers(before, after) {
    if (!after || (before?.state === "on" && after.state === "off")) return ["its tokens end at once"];
    return !before && roleCovers(after.role, "admin") ? [`it may do what ${after.role}s may`] : [];
  },
};

function byNetwork(left: { readonly network: string }, right: { readonly network: string }): number {
  return left.network < right.network ? -1 : 1;
}

function unknownNetwork(login: string, network: string): Failure {
  return fault(`serviceAccounts/${login}`, `there is no network ${network}`);
}
