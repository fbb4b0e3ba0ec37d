import type { HandlersOf } from "../../registry/handler.ts";
import { clientConfig } from "./client-config.ts";
import { createClientLink, redeemClientLink } from "./client-links.ts";
import type { clientsContract } from "./contract.ts";
import { createClient } from "./create-client.ts";
import { updateClient } from "./update-client.ts";

export const clientsOperations: HandlersOf<typeof clientsContract> = {
  create: createClient,
  update: updateClient,
  config: clientConfig,
  createLink: createClientLink,
  redeemLink: redeemClientLink,
};
