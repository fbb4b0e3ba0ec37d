import { plural } from "./plural.ts";

export const names = {
  title: "Names",
  sentence: "What hosts of this network are called, and who answers for other domains.",
  readOnly: "You may look. Changing needs the role admin.",
  views: { label: "Parts", records: "Records", servers: "Nameservers", domain: "Domain" },
  order: "Order",
  orders: { name: "Name, A to Z", "-name": "Name, Z to A", "-createdAt": "Newest first", createdAt: "Oldest first" },
  emptyFiltered: "Nothing fits",
  emptyFilteredHint: "Nothing fits the search and the filters.",
  removed: (name: string) => `${name} was removed. Nodes are applying it.`,
  saved: (name: string) => `${name} was saved. Nodes are applying it.`,
  edit: (name: string) => `Edit ${name}`,
  remove: (name: string) => `Remove ${name}`,
  description: "Description",
};

export const records = {
  add: "Add record",
  table: "Records",
  loading: "Loading records",
  search: "Search records",
  searchHint: "Name, value or description",
  type: "Type",
  allTypes: "Any type",
  columns: { name: "Name", type: "Type", value: "Value", ttl: "Remembered", added: "Added" },
  ttl: (seconds: number) => `${seconds} s`,
  copyName: (name: string) => `name ${name}`,
  copyValue: (value: string) => `value ${value}`,
  more: "More records",
  loaded: (shown: number, total: number) =>
    shown === total ? plural(total, { one: "# record", other: "# records" }) : `${shown} of ${total} records`,
  empty: "No record yet",
  emptyHint: "Peers have their names without one. A record gives a name to any other address, or one more to a peer.",
  form: {
    name: "Name",
    nameHint: (domain: string) => `Below ${domain}; @ is ${domain} itself.`,
    value: "Value",
    valueHints: {
      A: "An IPv4 address.",
      AAAA: "An IPv6 address.",
      CNAME: "A name; one label alone is a name of this network.",
    },
    ttl: "Remembered for, in seconds",
    ttlHint: "1 to 86400. Nodes of this network say at most 10.",
    ttlWrong: "Write a whole number from 1 to 86400.",
  },
  removeConsequences: (name: string) =>
    `${name} is no name any more, at once, on every node. A peer that is called so gets the name.`,
};

export const servers = {
  add: "Add nameservers",
  table: "Nameservers",
  loading: "Loading nameservers",
  search: "Search nameservers",
  searchHint: "Name or description",
  columns: { name: "Name", domains: "Asked about", servers: "Servers, in order", groups: "For", state: "State" },
  everything: "everything else",
  allNodes: "all nodes",
  unknownGroup: "a group that is gone",
  states: { on: "on", off: "off" },
  copyServer: (server: string) => `server ${server}`,
  more: "More nameservers",
  loaded: (shown: number, total: number) =>
    shown === total
      ? plural(total, { one: "# group of servers", other: "# groups of servers" })
      : `${shown} of ${total} groups of servers`,
  empty: "No nameservers",
  emptyHint: "Hosts go on asking the servers they had. Add some to answer a company's domain, or everything.",
  form: {
    name: "Name",
    servers: "Servers",
    serversHint: "One to eight addresses, in the order they are asked, as in 10.0.0.53, 10.0.0.54:5353.",
    serversWrong: "Write one to eight addresses with commas between them.",
    domains: "Domains",
    domainsHint: "As in corp.example, lab.example. The longest one that fits wins. Empty means everything.",
    domainsWrong: "At most 50 domains.",
    groups: "For nodes of",
    groupsHint: "None means all nodes.",
    on: "In use",
    everything: "Every question of these hosts that nothing else answers goes to these servers.",
  },
  removeConsequences:
    "Nodes ask these servers no more; what they answered goes to the next group that fits, else to the servers the hosts had.",
};

export const domain = {
  title: "Domain of the network",
  loading: "Loading the domain",
  facts: { state: "Names", domain: "Domain", search: "Search domains", leftAlone: "Hosts left alone" },
  states: { on: "answered on every node", off: "off: hosts are left alone" },
  peers: (name: string) =>
    `A peer is called by its name, as in ${name}. Of two with one name the second gets a number.`,
  example: "web-1",
  copy: (name: string) => `domain ${name}`,
  change: "Change",
  form: {
    title: "Change the domain",
    domain: "Domain",
    search: "Search domains",
    searchHint: "Tried behind short names, after the domain; at most 5, with commas between them.",
    searchWrong: "At most 5 search domains.",
    leftAlone: "Leave the resolver alone on hosts of",
    on: "Answer names on every node",
    consequences: "All names of the network end in the new domain at once; the old ones are gone.",
    offConsequences: "Nodes answer no names any more and give their hosts' resolvers back.",
  },
  saved: "The domain was changed. Nodes are applying it.",
};
