import { enrolmentKeysContract } from "../features/enrolment/contract.ts";
import { instanceContract } from "../features/instance/contract.ts";
import { liveContract } from "../features/live/contract.ts";
import { networksContract } from "../features/networks/contract.ts";
import { peersContract } from "../features/peers/contract.ts";
import { rulesContract } from "../features/rules/contract.ts";
import { sessionsContract } from "../features/sessions/contract.ts";
import { setupContract } from "../features/setup/contract.ts";
import { tokensContract } from "../features/tokens/contract.ts";

/** Every operation of this server; REST, tRPC, OpenAPI and the permission matrix are all derived from it. */
export const contracts = {
  setup: setupContract,
  sessions: sessionsContract,
  instance: instanceContract,
  networks: networksContract,
  peers: peersContract,
  enrolmentKeys: enrolmentKeysContract,
  rules: rulesContract,
  tokens: tokensContract,
  live: liveContract,
};

export type Contracts = typeof contracts;
