import { randomBytes } from "node:crypto";
import { makeToken, tokenIds, userIds } from "@weft/protocol";
import { insertToken } from "../db/tokens-repository.ts";
import { insertUser, replaceNetworkRoles } from "../db/users-repository.ts";
import { SCOPE_RESOURCES } from "../registry/access.ts";
import type { NetworkRole, Scope, ServerRole } from "../registry/access.ts";
import { hashSecret } from "../registry/secrets.ts";
import type { TestApp } from "./create-test-app.ts";
import { createRestClient } from "./rest-client.ts";
import type { RestClient } from "./rest-client.ts";

/** Every scope there is. */
export const ALL_SCOPES: readonly Scope[] = SCOPE_RESOURCES.flatMap((name): Scope[] => [
  `${name}:read`,
  `${name}:write`,
]);

/** Signs a new person up by an invite, and returns their browser. */
export async function join(
  app: Pick<TestApp, "url">,
  owner: RestClient,
  person: { readonly login: string; readonly role: ServerRole; readonly password?: string },
): Promise<{ readonly browser: RestClient; readonly userId: string; readonly password: string }> {
  const { login, role, password = "a long password" } = person;
  const invite = await owner.post("/api/v1/invites", { role });
  if (invite.status !== 201) throw new Error(`no invite: ${JSON.stringify(invite.body)}`);
  const browser = createRestClient(app.url);
  const secret = secretOf(invite.body.link);
  const accepted = await browser.post("/api/v1/invites/accept", { secret, login, password });
  if (accepted.status !== 201) throw new Error(`not accepted: ${JSON.stringify(accepted.body)}`);
  return { browser, userId: accepted.body.user.id, password };
}

/** The secret of an invite's link. */
export function secretOf(link: string): string {
  return new URL(link).hash.slice(1);
}

/** A token of a person who is made for it: rights without a login, for tests about rights. */
export async function tokenOf(
  app: TestApp,
  rights: {
    readonly role: ServerRole;
    readonly networkRoles?: readonly NetworkRole[];
    readonly scopes?: readonly Scope[];
  },
): Promise<{ readonly client: RestClient; readonly token: string; readonly userId: string }> {
  const { db, dispose } = app.database.connect();
  const userId = userIds.make(randomBytes);
  const now = new Date();
  const login = `u${randomBytes(6).toString("hex")}`;
  await insertUser(db, { id: userId, login, role: rights.role, passwordHash: null, createdAt: now });
  await replaceNetworkRoles(db, userId, rights.networkRoles ?? []);
  const token = makeToken("pat", randomBytes).expose();
  await insertToken(db, {
    id: tokenIds.make(randomBytes),
    userId,
    createdBy: userId,
    name: login,
    hash: hashSecret(token),
    hint: "",
    scopes: rights.scopes ?? ALL_SCOPES,
    createdAt: now,
    lastUsedAt: null,
    expiresAt: null,
  });
  await dispose();
  return { client: createRestClient(app.url, { token }), token, userId };
}

/** All audit events with an action, newest last. */
export async function auditOf(app: TestApp, action: string) {
  const { sql, dispose } = app.database.connect();
  const rows = await sql`select * from audit_events where action = ${action} order by at`;
  await dispose();
  return rows;
}
