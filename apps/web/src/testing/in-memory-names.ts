import type { NameRecord, Nameservers } from "../api/types.ts";
import { at } from "./builders.ts";
import { type Handlers, Refusal } from "./in-memory-link.ts";
import type { World } from "./world.ts";

type Page = <Item>(items: Item[]) => { items: Item[]; nextCursor: null };

/** Answers about records, nameservers and the domain of a network. */
export function nameHandlers(world: World, page: Page): Handlers {
  return {
    "nameSettings.get": () => world.nameSettings,
    "nameSettings.replace": (settings) => {
      world.nameSettings = settings;
      return settings;
    },
    "nameRecords.list": ({ q, type }) => {
      const found = world.records.filter(
        (record) =>
          (q === undefined || `${record.name} ${record.value}`.includes(q)) &&
          (type === undefined || record.type === type),
      );
      return { ...page(found), total: found.length };
    },
    "nameRecords.create": ({ networkId, name, type, value, ttlSeconds = 10, description = "" }) => {
      const id = `rec_${world.records.length}`;
      const record: NameRecord = { id, networkId, name, type, value, ttlSeconds, description, createdAt: at(0) };
      world.records.push(record);
      return record;
    },
    "nameRecords.update": ({ recordId, ...said }) => {
      const before = world.records.find(({ id }) => id === recordId);
      if (!before) throw new Refusal(404, "not_found", `${recordId} does not exist`);
      const after = { ...before, ...said } as NameRecord;
      world.records = world.records.map((record) => (record === before ? after : record));
      return after;
    },
    "nameRecords.remove": ({ recordId }) => void (world.records = world.records.filter(({ id }) => id !== recordId)),
    "nameservers.list": () => ({ ...page(world.nameservers), total: world.nameservers.length }),
    "nameservers.create": ({ networkId, name, servers, ...rest }) => {
      const { description = "", domains = [], groupIds = [], state = "on" } = rest;
      const id = `nsg_${world.nameservers.length}`;
      const group: Nameservers = {
        id,
        networkId,
        name,
        servers,
        description,
        domains,
        groupIds,
        state,
        createdAt: at(0),
      };
      world.nameservers.push(group);
      return group;
    },
    "nameservers.remove": ({ nameserversId }) =>
      void (world.nameservers = world.nameservers.filter(({ id }) => id !== nameserversId)),
  };
}
