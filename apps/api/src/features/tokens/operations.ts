import type { HandlersOf } from "../../registry/handler.ts";
import type { tokensContract } from "./contract.ts";
import { createToken } from "./create-token.ts";
import { getToken } from "./get-token.ts";
import { listTokens } from "./list-tokens.ts";
import { revokeToken } from "./revoke-token.ts";

export const tokensOperations: HandlersOf<typeof tokensContract> = {
  list: listTokens,
  get: getToken,
  create: createToken,
  revoke: revokeToken,
};
