import { randomBytes } from "node:crypto";
import { err, ok } from "@weft/protocol";
import { putClientLink, takeClientLink } from "../../db/clients-repository.ts";
import { findPeer } from "../../db/peers-repository.ts";
import { transact } from "../../db/transact.ts";
import { addressGroup } from "../../domain/address-group.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { hashSecret } from "../../registry/secrets.ts";
import { readClientConfig } from "./client-config.ts";
import type { clientsContract } from "./contract.ts";

/**
 * Makes a link for a client's configuration. Whoever made the private key puts it behind the `#`, combined with the pad: the
 * link alone is worth nothing once the pad was given out, and the pad says nothing of the key.
 */
export async function createClientLink(
  deps: FeatureDeps,
  call: Call,
  { peerId, pad, expiresInSeconds }: InputOf<typeof clientsContract.createLink>,
): Outcome<typeof clientsContract.createLink> {
  const at = new Date(deps.clock.nowMs());
  const secret = randomBytes(32).toString("base64url");
  const expiresAt = new Date(at.getTime() + expiresInSeconds * 1_000);
  return transact(deps.database.db, async (tx) => {
    const client = await findPeer(tx, peerId);
    if (client?.kind !== "client") return err({ code: "not_found", what: "static client" });
    await putClientLink(tx, { peerId: client.id, hash: hashSecret(secret), pad, expiresAt });
    const after = { expiresAt: expiresAt.toISOString() };
    const note = { action: "clients.createLink", objectId: client.id, networkId: client.networkId };
    await recordAudit(tx, call, { ...note, before: null, after, at });
    const link = `${deps.server.publicUrl ?? call.baseUrl}/client#${secret}`;
    return ok({ peerId: client.id, link, expiresAt: expiresAt.toISOString() });
  });
}

/** Gives out the configuration and the pad. Of parallel attempts one gets them, and nobody afterwards. */
export async function redeemClientLink(
  deps: FeatureDeps,
  call: Call,
  { secret }: InputOf<typeof clientsContract.redeemLink>,
): Outcome<typeof clientsContract.redeemLink> {
  const now = new Date(deps.clock.nowMs());
  const guesser = { account: `client link from ${addressGroup(call.address)}`, address: call.address };
  const attempt = deps.throttle.begin(guesser, now.getTime());
  if (!attempt.allowed) return err({ code: "rate_limited", retryAfterSeconds: attempt.retryAfterSeconds });
  const redeemed = await transact(deps.database.db, async (tx) => {
    const taken = await takeClientLink(tx, hashSecret(secret), now);
    const client = taken && (await findPeer(tx, taken.peerId));
    if (!taken || !client) return err({ code: "client_link_unusable" } as const);
    const config = await readClientConfig(tx, client.id);
    if (!config.ok) return config;
    const note = { action: "clients.redeemLink", objectId: client.id, networkId: client.networkId };
    await recordAudit(tx, call, { ...note, before: null, after: null, at: now });
    return ok({ pad: taken.pad, config: config.value });
  });
  if (redeemed.ok) deps.throttle.succeed(guesser);
  return redeemed;
}
