import type { HandlersOf } from "../../registry/handler.ts";
import type { networksContract } from "./contract.ts";
import { createNetwork } from "./create-network.ts";
import { getNetwork } from "./get-network.ts";
import { listNetworks } from "./list-networks.ts";
import { proposeRanges } from "./propose-ranges.ts";
import { removeNetwork } from "./remove-network.ts";
import { networkTraffic } from "./network-traffic.ts";
import { updateNetwork } from "./update-network.ts";

export const networksOperations: HandlersOf<typeof networksContract> = {
  list: listNetworks,
  propose: proposeRanges,
  get: getNetwork,
  traffic: networkTraffic,
  create: createNetwork,
  update: updateNetwork,
  remove: removeNetwork,
};
