import { plural } from "./plural.ts";

export const networks = {
  title: "Networks",
  none: "No network exists",
  noneHint: "A network is an isolated overlay with its own addresses and rules.",
  create: "Create network",
  createTitle: "Create network",
  name: "Name",
  ipv4: "IPv4 range",
  ipv6: "IPv6 range",
  rangesHint: "Proposed so that no other network of this server uses them. Empty means none of that family.",
  allowAll: "Start with the rule all ↔ all",
  submit: "Create network",
  created: (name: string) => `Network ${name} was created.`,
};

export const settings = {
  title: "Settings",
  loading: "Loading settings",
  sentence: (name: string) => `Network ${name}`,
  general: "General",
  name: "Network name",
  rename: "Rename",
  renamed: (name: string) => `The network is now called ${name}.`,
  flows: {
    title: "Flow records",
    hint: "Nodes tell who talked to whom, under which rule and how much, refused flows included. They name addresses and ports of people's traffic.",
    sampling: "Record",
    none: "Nothing",
    oneOf: (sampling: number) => (sampling === 1 ? "Every flow" : `One flow of ${sampling}`),
    keep: "Keep for",
    hours: (hours: number) =>
      hours % 24 === 0
        ? plural(hours / 24, { one: "# day", other: "# days" })
        : plural(hours, { one: "# hour", other: "# hours" }),
    save: "Save",
    turnedOn: "Flows are being recorded. Nodes are told now.",
    turnedOff: "Flows are not recorded any more. What was recorded stays for its time.",
  },
  keys: {
    title: "Enrolment keys",
    hint: "Each lets hosts join with one line. Peers that joined stay when a key is revoked.",
    loading: "Loading enrolment keys",
    table: "Enrolment keys",
    empty: "No enrolment key. Adding a host makes one.",
    columns: { key: "Key", state: "State", uses: "Used", expires: "Expires", created: "Created" },
    states: { valid: "valid", spent: "used up", expired: "expired", revoked: "revoked" },
    uses: (uses: number, max: number | null) =>
      max === null ? plural(uses, { one: "# time", other: "# times" }) : `${uses} of ${max}`,
    revoke: "Revoke",
    revokeLabel: (hint: string) => `Revoke key ${hint}`,
    revoked: "The key was revoked. Nobody can join with it any more.",
    revokeConsequences: "Nobody can join with this key any more. Peers that joined with it stay.",
  },
  danger: {
    title: "Delete this network",
    hint: "Peers, keys and rules go with it; every agent is told to leave. There is no way back.",
    action: (name: string) => `Delete network ${name}`,
    consequences: (name: string, peers: number) =>
      plural(peers, {
        one: `Network ${name} and its # peer disappear. The tunnel closes at once.`,
        other: `Network ${name} and its # peers disappear. All their tunnels close at once.`,
      }),
    done: (name: string) => `Network ${name} was deleted.`,
  },
};
