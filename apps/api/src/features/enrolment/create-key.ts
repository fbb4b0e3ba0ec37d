import { enrolmentKeyIds, err, formatJoinKey, groupIds, makeToken, ok } from "@weft/protocol";
import { insertEnrolmentKey } from "../../db/enrolment-keys-repository.ts";
import { unknownGroups } from "../../db/groups-repository.ts";
import { lockNetwork } from "../../db/networks-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { installLine, joinLine, joinUrl } from "../../registry/join-line.ts";
import { hashSecret, hintOf } from "../../registry/secrets.ts";
import type { enrolmentKeysContract } from "./contract.ts";
import { keyView } from "./key-view.ts";

/** Creates an enrolment key; its secret leaves the server only in this answer. */
export async function createKey(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof enrolmentKeysContract.create>,
): Outcome<typeof enrolmentKeysContract.create> {
  const now = new Date(deps.clock.nowMs());
  const { publicUrl, reachableHost } = deps.server;
  const url = joinUrl({ publicUrl, baseUrl: call.baseUrl, reachableHost: reachableHost() });
  const script = await deps.installer.script(url);
  return transact(deps.database.db, async (tx) => {
    // Under the lock no group can go between the look at it and the key that names it.
    const network = await lockNetwork(tx, input.networkId);
    if (!network) return err({ code: "not_found", what: "network" });
    const [unknown] = await unknownGroups(tx, network.id, input.groupIds);
    if (unknown !== undefined) return err({ code: "not_found", what: `group ${unknown}` });
    const secret = makeToken("enr", deps.random);
    const key = {
      id: enrolmentKeyIds.make(deps.random),
      networkId: network.id,
      name: input.name,
      hint: hintOf(secret.expose()),
      uses: 0,
      usesMax: input.usesMax,
      expiresAt: new Date(now.getTime() + input.expiresInSeconds * 1_000),
      groupIds: [...new Set(input.groupIds.filter(groupIds.is))].toSorted(),
      ephemeralSeconds: input.ephemeralSeconds,
      approval: input.approval,
      revokedAt: null,
      createdBy: call.actor.kind === "user" || call.actor.kind === "token" ? call.actor.userId : null,
      createdAt: now,
    };
    await insertEnrolmentKey(tx, { ...key, hash: hashSecret(secret.expose()) });
    const view = keyView(key, now.getTime());
    const note = { action: "enrolmentKeys.create", objectId: key.id, networkId: network.id };
    await recordAudit(tx, call, { ...note, before: null, after: view, at: now });
    const joinKey = formatJoinKey(secret, deps.server.key);
    const joinCommand = joinLine(url, joinKey);
    const line = script === null ? joinCommand : installLine(url, joinKey, script.digest);
    return ok({ ...view, key: joinKey, joinLine: line, joinCommand });
  });
}
