import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTRPC } from "../api/context.ts";
import type { Peer } from "../api/types.ts";
import { strings } from "../strings/index.ts";
import { ComboBox, type ComboBoxOption } from "../ui/combo-box.tsx";

export type PeerPickerProps = {
  readonly networkId: string;
  readonly label: string;
  readonly peerId: string | undefined;
  readonly onChoose: (peerId: string) => void;
};

/** One peer of a network, found by a part of its name or address; the server searches. */
export function PeerPicker({ networkId, label, peerId, onChoose }: PeerPickerProps): ReactNode {
  const trpc = useTRPC();
  const [search, setSearch] = useState("");
  const found = useQuery({
    ...trpc.peers.list.queryOptions({ networkId, limit: OPTIONS_MAX, ...(search === "" ? {} : { q: search }) }),
    placeholderData: keepPreviousData,
  });
  const chosen = useQuery(trpc.peers.get.queryOptions({ peerId: peerId ?? "" }, { enabled: peerId !== undefined }));

  return (
    <ComboBox
      label={label}
      hint={strings.common.peerHint}
      emptyText={strings.common.noPeers}
      options={found.data?.items.map(optionOf) ?? []}
      chosen={peerId !== undefined && chosen.data ? optionOf(chosen.data) : null}
      onSearch={setSearch}
      onChoose={onChoose}
    />
  );
}

function optionOf({ id, name, ipv4, ipv6 }: Peer): ComboBoxOption {
  const detail = ipv4 ?? ipv6;
  return { id, label: name, ...(detail === null ? {} : { detail }) };
}

const OPTIONS_MAX = 20;
