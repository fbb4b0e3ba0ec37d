import { randomBytes } from "node:crypto";
import { sessionIds } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { insertSession } from "../db/sessions-repository.ts";
import { changeUser } from "../db/users-repository.ts";
import type { Call } from "./call.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import { hashSecret } from "./secrets.ts";

/** Makes a new session and hands its cookie to the browser; an older cookie is never taken over. */
export async function startSession(
  deps: Pick<FeatureDeps, "clock" | "random">,
  tx: Executor,
  { call, userId }: { readonly call: Call; readonly userId: string },
): Promise<void> {
  const token = randomBytes(32).toString("base64url");
  const now = new Date(deps.clock.nowMs());
  const expiresAt = new Date(now.getTime() + SESSION_MS);
  await insertSession(tx, {
    id: sessionIds.make(deps.random),
    tokenHash: hashSecret(token),
    userId,
    address: call.address,
    userAgent: call.userAgent.slice(0, 300),
    createdAt: now,
    lastSeenAt: now,
    expiresAt,
  });
  await changeUser(tx, userId, { lastLoginAt: now });
  call.sessionCookie.set(token, expiresAt);
}

/** A session ends this long after its last use. */
export const SESSION_MS = 30 * 24 * 3_600_000;
