import { parseIp, type IpAddress } from "@weft/protocol";

/** What a resolver file says, line by line; what is not understood is kept as it is. */
export type ResolvConf = {
  readonly nameservers: readonly IpAddress[];
  readonly search: readonly string[];
  /** Every other line. */
  readonly kept: readonly string[];
};

/** Reads a resolver file. Every text is a legal one: unknown lines are kept, addresses with a zone or none left alone. */
export function parseResolvConf(text: string): ResolvConf {
  const nameservers: IpAddress[] = [];
  let search: readonly string[] = [];
  const kept: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [keyword = "", ...values] = line.trim().split(/[ \t]+/);
    const address = keyword === "nameserver" ? parseIp(values[0] ?? "") : null;
    if (address?.ok) nameservers.push(address.value);
    // Of several lines the last one counts, whichever of the two words it has.
    else if (keyword === "search") search = values;
    else if (keyword === "domain") search = values.slice(0, 1);
    else kept.push(line);
  }
  while (kept.at(-1)?.trim() === "") kept.pop();
  return { nameservers, search, kept };
}

/**
 * The file with us before its own servers. They stay in it: should the agent vanish together with whoever restores the file,
 * the host still resolves names, only later.
 */
export function withWeft(
  before: ResolvConf,
  weft: { readonly servers: readonly IpAddress[]; readonly search: readonly string[] },
): string {
  const others = before.nameservers.filter((address) => !weft.servers.includes(address));
  const servers = [...weft.servers.slice(0, 1), ...others].slice(0, SERVERS_MAX);
  const search = [...new Set([...weft.search, ...before.search])];
  return [
    MARK,
    ...before.kept,
    ...servers.map((address) => `nameserver ${address}`),
    ...(search.length === 0 ? [] : [`search ${search.join(" ")}`]),
    "",
  ].join("\n");
}

/** What the C library looks at. */
const SERVERS_MAX = 3;
const MARK = "# weft answers names here; when it stops, the file before this one comes back.";
