import { decode, encode, type Answer } from "dns-packet";
import type { Endpoint } from "@weft/protocol";

import { makeReply, readQuery, safely, type DnsQuery } from "./dns-message.ts";
import type { Forwarder } from "./forwarder.ts";
import type { Zone } from "./zone.ts";

/** Answers messages of askers; transports are somebody else's. */
export type Resolver = {
  /** The answer, whole; `null`: better nothing. */
  readonly answer: (message: Buffer) => Promise<{ readonly answer: Buffer; readonly query: DnsQuery | null } | null>;
};

export type ResolverDeps = {
  readonly zone: () => Zone | null;
  readonly forwarder: Forwarder;
  /** Servers that the host used before, for what is no business of the network. */
  readonly upstreams: () => readonly Endpoint[];
};

export function createResolver({ zone, forwarder, upstreams }: ResolverDeps): Resolver {
  const forward = async (query: DnsQuery, servers: readonly Endpoint[]): Promise<Buffer> => {
    if (servers.length === 0) return makeReply(query, { rcode: "REFUSED", answers: [] });
    return (await forwarder.ask(query, servers)) ?? makeReply(query, { rcode: "SERVFAIL", answers: [] });
  };
  const serversFor = (names: Zone, name: string, type: string): readonly Endpoint[] => {
    const found = names.ask(name, type);
    return found.kind === "servers" ? found.servers : upstreams();
  };
  const resolve = async (query: DnsQuery, names: Zone): Promise<Buffer> => {
    const found = names.ask(query.name, query.type);
    if (found.kind !== "own") return forward(query, found.kind === "servers" ? found.servers : upstreams());
    if (found.goOnAt === null) {
      const authorities = found.answers.length === 0 ? [names.authority()] : [];
      return makeReply(query, { rcode: found.rcode, answers: found.answers, authorities });
    }
    const servers = serversFor(names, found.goOnAt, query.type);
    const behind = await lookBehind({ forwarder, query, servers, name: found.goOnAt });
    return makeReply(query, { rcode: "NOERROR", answers: [...found.answers, ...behind] });
  };
  return {
    async answer(message) {
      const read = readQuery(message);
      if (!read.ok) return read.no.kind === "silence" ? null : { answer: read.no.answer, query: null };
      const { query } = read;
      const names = zone();
      const answer = names ? await resolve(query, names) : makeReply(query, { rcode: "SERVFAIL", answers: [] });
      return { answer, query };
    },
  };
}

/** What other servers say of the name that an alias leads to; nothing when they say nothing. */
async function lookBehind({
  forwarder,
  query,
  servers,
  name,
}: {
  readonly forwarder: Forwarder;
  readonly query: DnsQuery;
  readonly servers: readonly Endpoint[];
  readonly name: string;
}): Promise<readonly Answer[]> {
  const asked = safely(() => decode(query.bytes));
  const [question] = asked?.questions ?? [];
  if (!question || servers.length === 0) return [];
  const message = encode({ type: "query", id: query.id, flags: 0x100, questions: [{ ...question, name }] });
  const next = readQuery(message);
  const answer = next.ok ? await forwarder.ask(next.query, servers) : null;
  return (answer && safely(() => decode(answer))?.answers) ?? [];
}
