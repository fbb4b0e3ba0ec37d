import type { FilterRule, Prefix, PublicKey } from "@weft/protocol";
import type { FlowList, PeerState, TunnelEvent } from "../tunnel.ts";
import type { ContractCounters, ContractPacket, ContractPeer, ContractRecord } from "./tunnel-contract.ts";

/** What a test can ask of a tunnel in another process. */
export type NativeCall =
  | { readonly name: "replacePeers"; readonly peers: readonly ContractPeer[] }
  | { readonly name: "changePeers"; readonly upserts: readonly ContractPeer[]; readonly removals: readonly PublicKey[] }
  | { readonly name: "replaceFilter"; readonly rules: readonly FilterRule[] }
  | { readonly name: "moveInner"; readonly inner: Prefix }
  | { readonly name: "peers" }
  | { readonly name: "counters" }
  | { readonly name: "close" }
  | { readonly name: "events" }
  | { readonly name: "heard" }
  | { readonly name: "flows" }
  | { readonly name: "flowRecords" }
  | ({ readonly name: "say"; readonly to: string } & ContractPacket);

/** What it answers. */
export type NativeAnswers = {
  readonly replacePeers: boolean;
  readonly changePeers: boolean;
  readonly replaceFilter: boolean;
  readonly moveInner: boolean;
  readonly peers: readonly PeerState[];
  readonly counters: ContractCounters;
  readonly close: null;
  readonly events: readonly TunnelEvent[];
  readonly heard: readonly string[];
  readonly flows: FlowList;
  readonly flowRecords: readonly ContractRecord[];
  readonly say: null;
};
