import { err, ok, ruleIds, userIds } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { takeBootstrap } from "../../db/instance-repository.ts";
import { allNetworks, insertNetwork, lockNetworkCreation, publishChanges } from "../../db/networks-repository.ts";
import { insertRule, openRule } from "../../db/rules-repository.ts";
import { transact } from "../../db/transact.ts";
import { insertUser, lockUsers, ownerExists } from "../../db/users-repository.ts";
import { addressGroup } from "../../domain/address-group.ts";
import type { Failure } from "../../domain/failure.ts";
import { planNetwork } from "../../domain/new-network.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { sameSecret } from "../../registry/secrets.ts";
import { startSession } from "../../registry/session-start.ts";
import { networkView } from "../../registry/views.ts";
import { isBootstrapToken } from "./create-service-account.ts";
import type { setupContract } from "./contract.ts";

/** Creates owner, first network and its visible rule in one transaction, and signs the owner in. */
export async function createOwner(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof setupContract.createOwner>,
): Outcome<typeof setupContract.createOwner> {
  const { db } = deps.database;
  const now = new Date(deps.clock.nowMs());
  if (await ownerExists(db)) return err({ code: "owner_exists" });
  const proof = checkSetupToken(deps, call, input.setupToken);
  if (!proof.ok) return proof;
  const passwordHash = await deps.passwords.hash(input.password);
  return transact(db, async (tx) => {
    await lockUsers(tx);
    if (await ownerExists(tx)) return err({ code: "owner_exists" });
    if (proof.value === "bootstrap" && !(await takeBootstrap(tx, now))) return err({ code: "bootstrap_unusable" });
    const user = { id: userIds.make(deps.random), login: input.login, role: "owner" } as const;
    await insertUser(tx, { ...user, passwordHash, createdAt: now });
    await lockNetworkCreation(tx);
    const network = planNetwork({ name: input.networkName }, await allNetworks(tx), { now, random: deps.random });
    if (!network.ok) return network;
    await insertNetwork(tx, network.value);
    const networkId = network.value.id;
    await insertRule(tx, openRule({ id: ruleIds.make(deps.random), networkId, createdAt: now }));
    await publishChanges(tx, networkId, { changes: [{ kind: "network" }, { kind: "rules" }], at: now });
    const view = networkView({ ...network.value, peerCount: 0 }, deps.live);
    await recordAudit(tx, call, {
      action: "setup.createOwner",
      objectId: user.id,
      networkId,
      before: null,
      after: { user, network: view },
      at: now,
    });
    await startSession(deps, tx, { call, userId: user.id });
    return ok({ user, network: view });
  });
}

/** Callers on this machine need no token; others show the one from the server's own output, or of its bootstrap. */
function checkSetupToken(
  deps: FeatureDeps,
  call: Call,
  shown: string | undefined,
): Result<"local" | "setup" | "bootstrap", Failure> {
  if (shown !== undefined && isBootstrapToken(deps, shown)) return ok("bootstrap");
  if (call.isLocal) return ok("local");
  // Every source has a count of its own: a stranger who guesses must not keep the owner out.
  const subjects = { account: `setup from ${addressGroup(call.address)}`, address: call.address };
  const attempt = deps.throttle.begin(subjects, deps.clock.nowMs());
  if (!attempt.allowed) return err({ code: "rate_limited", retryAfterSeconds: attempt.retryAfterSeconds });
  if (shown === undefined || !sameSecret(shown, deps.server.setupToken)) {
    return err({ code: "setup_token_wrong" });
  }
  deps.throttle.succeed(subjects);
  return ok("setup");
}
