import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "../../api/context.ts";
import type { Group, Inputs, NameRecord, Nameservers, NameSettings } from "../../api/types.ts";
import { usePages } from "../../api/use-pages.ts";
import type { NamesSearch } from "../../routes.ts";
import { pageStrings } from "../../strings/pages.ts";
import { useNotify } from "../../ui/notice.tsx";
import type { Pages } from "../../ui/paged-list.tsx";

/** What somebody writes into the form of a record. */
export type RecordInput = Omit<Inputs["nameRecords"]["create"], "networkId">;
/** What somebody writes into the form of nameservers. */
export type NameserversInput = Omit<Inputs["nameservers"]["create"], "networkId">;

/** Records as the search in the address asks for them. */
export function useRecordPages(networkId: string, { q, type, sort }: NamesSearch): Pages<NameRecord> {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const asked = { networkId, limit: PAGE_ROWS, count: true, ...said({ q, sort }), ...(type ? { type } : {}) };
  return usePages({
    key: [...trpc.nameRecords.list.queryKey(), asked],
    read: (place, signal) => client.nameRecords.list.query({ ...asked, ...place }, { signal }),
  });
}

/** Nameserver groups as the search in the address asks for them. */
export function useNameserverPages(networkId: string, { q, sort }: NamesSearch): Pages<Nameservers> {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const asked = { networkId, limit: PAGE_ROWS, count: true, ...said({ q, sort }) };
  return usePages({
    key: [...trpc.nameservers.list.queryKey(), asked],
    read: (place, signal) => client.nameservers.list.query({ ...asked, ...place }, { signal }),
  });
}

/** The groups of a network; none while they are not known. */
export function useGroups(networkId: string): readonly Group[] {
  const trpc = useTRPC();
  return useQuery(trpc.groups.list.queryOptions({ networkId, limit: 500 })).data?.items ?? NO_GROUPS;
}

/** Adds a record, or changes the one that is given. */
export function useSaveRecord(
  place: { readonly networkId: string; readonly record: NameRecord | null },
  onDone: () => void,
) {
  const { nameRecords } = useTRPCClient();
  const done = useDone(onDone);
  const { networkId, record } = place;
  return useMutation({
    mutationFn: (input: RecordInput) =>
      record
        ? nameRecords.update.mutate({ recordId: record.id, ...input })
        : nameRecords.create.mutate({ networkId, ...input }),
    onSuccess: ({ name }) => done(pageStrings.names.saved(name)),
  });
}

/** Adds nameservers, or changes the group that is given. */
export function useSaveNameservers(
  place: { readonly networkId: string; readonly group: Nameservers | null },
  onDone: () => void,
) {
  const { nameservers } = useTRPCClient();
  const done = useDone(onDone);
  const { networkId, group } = place;
  return useMutation({
    mutationFn: (input: NameserversInput) =>
      group
        ? nameservers.update.mutate({ nameserversId: group.id, ...input })
        : nameservers.create.mutate({ networkId, ...input }),
    onSuccess: ({ name }) => done(pageStrings.names.saved(name)),
  });
}

/** Replaces the settings of the names. */
export function useSaveSettings(onDone: () => void) {
  const { nameSettings } = useTRPCClient();
  const done = useDone(onDone);
  return useMutation({
    mutationFn: (settings: NameSettings) => nameSettings.replace.mutate(settings),
    onSuccess: () => done(pageStrings.domain.saved),
  });
}

/** Removes a record or a group of nameservers. */
export function useRemove(onDone: () => void) {
  const { nameRecords, nameservers } = useTRPCClient();
  const done = useDone(onDone);
  return useMutation({
    mutationFn: async (item: NameRecord | Nameservers): Promise<void> => {
      await ("type" in item
        ? nameRecords.remove.mutate({ recordId: item.id })
        : nameservers.remove.mutate({ nameserversId: item.id }));
    },
    onSuccess: (_, { name }) => done(pageStrings.names.removed(name)),
  });
}

/** Reads a list with commas or spaces between its items. */
export function readList(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== "");
}

function useDone(onDone: () => void): (sentence: string) => void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  return (sentence) => {
    for (const noun of [trpc.nameRecords, trpc.nameservers, trpc.nameSettings])
      void queryClient.invalidateQueries({ queryKey: noun.pathKey() });
    notify(sentence);
    onDone();
  };
}

function said({ q, sort }: { readonly q: string | undefined; readonly sort: NamesSearch["sort"] | undefined }) {
  return { ...(q === undefined ? {} : { q }), ...(sort === undefined ? {} : { sort }) };
}

const NO_GROUPS: readonly Group[] = [];
const PAGE_ROWS = 100;
