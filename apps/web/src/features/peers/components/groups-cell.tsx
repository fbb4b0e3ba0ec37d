import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { useTRPC } from "../../../api/context.ts";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Chip } from "../../../ui/chip.tsx";

/** What the groups of a network are called, by id. */
type GroupNames = ReadonlyMap<string, string>;

/** Hands the names to the cells of a table, whose columns stay what they are when names arrive. */
export function GroupNamesProvider({
  networkId,
  children,
}: {
  readonly networkId: string;
  readonly children: ReactNode;
}): ReactNode {
  const trpc = useTRPC();
  const groups = useQuery(trpc.groups.list.queryOptions({ networkId, limit: 500 })).data?.items;
  const names = useMemo(() => new Map(groups?.map(({ id, name }) => [id, name])), [groups]);
  return <GroupNamesContext.Provider value={names}>{children}</GroupNamesContext.Provider>;
}

const GroupNamesContext = createContext<GroupNames>(new Map());

/** The groups of a peer by name; ids of groups whose names are not there yet are left out. */
export function GroupsCell({ peer }: { readonly peer: Peer }): ReactNode {
  const names = useContext(GroupNamesContext);
  const known = peer.groupIds.flatMap((id) => names.get(id) ?? []).toSorted((a, b) => a.localeCompare(b));
  if (known.length === 0) return <span className="faint">{strings.peers.noGroups}</span>;
  return (
    <span className="rule">
      {known.map((name) => (
        <Chip key={name}>
          <span dir="auto">{name}</span>
        </Chip>
      ))}
    </span>
  );
}
