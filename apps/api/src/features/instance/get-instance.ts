import { ok, serverKeyToPin } from "@weft/protocol";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { Outcome } from "../../registry/handler.ts";
import type { instanceContract } from "./contract.ts";

/** Describes the server. */
export async function getInstance(deps: FeatureDeps, call: Call): Outcome<typeof instanceContract.get> {
  const { server } = deps;
  return ok({
    version: server.version,
    startedAt: server.startedAt.toISOString(),
    serverKey: serverKeyToPin(server.key),
    publicUrl: server.publicUrl ?? call.baseUrl,
    update: deps.updates.notice(),
    database: { kind: server.databaseKind, ok: await deps.database.isAlive() },
  });
}
