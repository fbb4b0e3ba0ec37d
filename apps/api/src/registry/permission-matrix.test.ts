import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  backupIds,
  concealProfileIds,
  enrolmentKeyIds,
  groupIds,
  routeApproverIds,
  routeIds,
  identityIds,
  identityProviderIds,
  inviteIds,
  jobIds,
  makeToken,
  nameRecordIds,
  nameserverGroupIds,
  networkIds,
  peerIds,
  ruleIds,
  sessionIds,
  tokenIds,
  userIds,
  webhookIds,
} from "@weft/protocol";
import { insertToken } from "../db/tokens-repository.ts";
import { insertUser } from "../db/users-repository.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { openApiDocument } from "../http/openapi.ts";
import { createRestClient, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { roleCovers, ROLES, SCOPE_RESOURCES } from "./access.ts";
import type { Role, Scope } from "./access.ts";
import { allOperations, isOperation } from "./operations.ts";
import { hashSecret } from "./secrets.ts";

/** The whole matrix as it is meant; a new operation must be added here by hand, with a thought. */
const EXPECTED: Readonly<Record<string, Role | "public" | "signed-in">> = {
  "setup.status": "public",
  "setup.createOwner": "public",
  "setup.createServiceAccount": "public",
  "sessions.login": "public",
  "sessions.logout": "public",
  "sessions.current": "signed-in",
  "sessions.list": "signed-in",
  "sessions.revoke": "signed-in",
  "sessions.revokeOthers": "signed-in",
  "instance.get": "viewer",
  "networks.list": "viewer",
  "networks.propose": "viewer",
  "networks.get": "viewer",
  "networks.traffic": "viewer",
  "networks.create": "admin",
  "networks.update": "admin",
  "networks.remove": "owner",
  "peers.list": "viewer",
  "peers.versions": "viewer",
  "peers.get": "viewer",
  "peers.update": "operator",
  "peers.expire": "operator",
  "peers.approve": "operator",
  "peers.reject": "operator",
  "peers.disable": "operator",
  "peers.enable": "operator",
  "peers.remove": "admin",
  "peers.move": "admin",
  "clients.create": "admin",
  "clients.update": "admin",
  "clients.config": "viewer",
  "clients.createLink": "admin",
  "clients.redeemLink": "public",
  "peers.reachable": "viewer",
  "peers.diagnose": "viewer",
  "peers.traffic": "viewer",
  "peers.ping": "operator",
  "flowLogs.list": "viewer",
  "flowLogs.top": "viewer",
  "groups.list": "viewer",
  "groups.get": "viewer",
  "groups.create": "operator",
  "groups.update": "operator",
  "groups.remove": "operator",
  "groups.addPeer": "operator",
  "groups.removePeer": "operator",
  "enrolmentKeys.list": "viewer",
  "enrolmentKeys.get": "viewer",
  "enrolmentKeys.create": "admin",
  "enrolmentKeys.revoke": "admin",
  "rules.list": "viewer",
  "rules.hits": "viewer",
  "rules.create": "admin",
  "rules.update": "admin",
  "rules.remove": "admin",
  "routes.list": "viewer",
  "routes.conflicts": "viewer",
  "routes.create": "operator",
  "routes.update": "admin",
  "routes.approve": "admin",
  "routes.remove": "admin",
  "nameSettings.get": "viewer",
  "nameSettings.replace": "admin",
  "nameRecords.list": "viewer",
  "nameRecords.get": "viewer",
  "nameRecords.create": "admin",
  "nameRecords.update": "admin",
  "nameRecords.remove": "admin",
  "nameservers.list": "viewer",
  "nameservers.get": "viewer",
  "nameservers.create": "admin",
  "nameservers.update": "admin",
  "nameservers.remove": "admin",
  "routes.chooseExit": "operator",
  "routeApprovers.list": "viewer",
  "routeApprovers.create": "admin",
  "routeApprovers.remove": "admin",
  "policy.get": "viewer",
  "policy.replace": "admin",
  "policy.validate": "viewer",
  "policy.test": "viewer",
  "policy.explain": "viewer",
  "policy.versions": "viewer",
  "policy.version": "viewer",
  "policy.restore": "admin",
  "tokens.list": "signed-in",
  "conceal.list": "viewer",
  "conceal.get": "viewer",
  "conceal.create": "admin",
  "conceal.update": "admin",
  "conceal.remove": "admin",
  "conceal.export": "admin",
  "conceal.plan": "viewer",
  "conceal.nodes": "viewer",
  "conceal.rollOut": "admin",
  "conceal.rollBack": "admin",
  "configuration.export": "admin",
  "configuration.plan": "admin",
  "configuration.apply": "admin",
  "tokens.get": "signed-in",
  "tokens.create": "signed-in",
  "tokens.revoke": "signed-in",
  "users.list": "viewer",
  "users.get": "viewer",
  "users.update": "admin",
  "users.disable": "admin",
  "users.enable": "admin",
  "users.remove": "admin",
  "users.resetMfa": "admin",
  "invites.list": "admin",
  "invites.create": "admin",
  "invites.revoke": "admin",
  "invites.look": "public",
  "invites.accept": "public",
  "serviceAccounts.list": "viewer",
  "serviceAccounts.get": "viewer",
  "serviceAccounts.create": "admin",
  "serviceAccounts.disable": "admin",
  "serviceAccounts.enable": "admin",
  "serviceAccounts.remove": "admin",
  "serviceAccounts.createToken": "admin",
  "account.get": "signed-in",
  "account.changePassword": "signed-in",
  "account.beginTotp": "signed-in",
  "account.confirmTotp": "signed-in",
  "account.removeTotp": "signed-in",
  "account.renewRecoveryCodes": "signed-in",
  "account.identities": "signed-in",
  "account.unlinkIdentity": "signed-in",
  "identityProviders.list": "admin",
  "identityProviders.create": "admin",
  "identityProviders.update": "admin",
  "identityProviders.remove": "admin",
  "identityProviders.offered": "public",
  "identityProviders.begin": "public",
  "identityProviders.finish": "public",
  "identityProviders.confirm": "public",
  "auditEvents.list": "viewer",
  "auditEvents.get": "viewer",
  "expirations.list": "viewer",
  "webhooks.list": "admin",
  "webhooks.get": "admin",
  "webhooks.create": "admin",
  "webhooks.update": "admin",
  "webhooks.rotateSecret": "admin",
  "webhooks.remove": "admin",
  "webhooks.test": "admin",
  "webhooks.deliveries": "admin",
  "backups.list": "admin",
  "backups.get": "admin",
  "backups.create": "admin",
  "backups.verify": "admin",
  "backups.download": "owner",
  "backups.remove": "admin",
  "jobs.list": "viewer",
  "jobs.get": "viewer",
  "jobs.report": "admin",
  "jobs.cancel": "operator",
  "jobs.ping": "operator",
  "jobs.trace": "operator",
  "jobs.mtuProbe": "operator",
  "jobs.throughput": "admin",
  "jobs.restart": "admin",
  "jobs.recordProfile": "admin",
  "jobs.collectBundle": "admin",
  "jobs.profile": "admin",
  "jobs.debugBundle": "admin",
  "live.network": "viewer",
  "live.peer": "viewer",
};

const SCOPES: readonly Scope[] = SCOPE_RESOURCES.flatMap((name): Scope[] => [`${name}:read`, `${name}:write`]);
const PARAMS: Readonly<Record<string, string>> = {
  networkId: networkIds.make(randomBytes),
  peerId: peerIds.make(randomBytes),
  ruleId: ruleIds.make(randomBytes),
  version: "1",
  routeApproverId: routeApproverIds.make(randomBytes),
  jobId: jobIds.make(randomBytes),
  exitPeerId: peerIds.make(randomBytes),
  routeId: routeIds.make(randomBytes),
  recordId: nameRecordIds.make(randomBytes),
  nameserversId: nameserverGroupIds.make(randomBytes),
  groupId: groupIds.make(randomBytes),
  concealProfileId: concealProfileIds.make(randomBytes),
  tokenId: tokenIds.make(randomBytes),
  enrolmentKeyId: enrolmentKeyIds.make(randomBytes),
  userId: userIds.make(randomBytes),
  serviceAccountId: userIds.make(randomBytes),
  identityId: identityIds.make(randomBytes),
  inviteId: inviteIds.make(randomBytes),
  sessionId: sessionIds.make(randomBytes),
  identityProviderId: identityProviderIds.make(randomBytes),
  backupId: backupIds.make(randomBytes),
  webhookId: webhookIds.make(randomBytes),
  eventId: `evt_${randomBytes(16).toString("hex")}`,
};

let server: TestApp;
const clients = new Map<Role | "anonymous", RestClient>();
let scopeless: RestClient;

beforeAll(async () => {
  server = await createTestApp();
  await setUp(server.url);
  for (const role of ROLES) clients.set(role, await clientWith(role, SCOPES));
  clients.set("anonymous", createRestClient(server.url));
  scopeless = await clientWith("owner", []);
});
afterAll(() => server.dispose());

test("API-3 SEC-35 every operation says who may call it and with which scope, and the document says the same", () => {
  const paths: Json = openApiDocument("1")["paths"];
  for (const { name, contract } of allOperations) {
    const { access } = contract;
    const scope = access.kind === "public" ? undefined : access.scope;
    const role = access.kind === "role" ? access.role : access.kind;
    expect({ name, role }).toEqual({ name, role: EXPECTED[name] });
    expect({ name, isScope: SCOPES.some((known) => known === scope) }).toEqual({ name, isScope: role !== "public" });
    if (contract.kind === "subscription") continue;
    const entry = paths[contract.rest.path]?.[contract.rest.method.toLowerCase()];
    expect({ name, permission: entry?.["x-permission"], security: entry?.security }).toEqual({
      name,
      permission: role,
      security: scope === undefined ? [] : [{ token: [scope] }, { session: [] }],
    });
  }
});

test("API-3 a change needs a write scope, and reading needs no more than a read scope", () => {
  const verbs = allOperations.flatMap(({ name, contract: { access, kind } }) =>
    access.kind === "public" ? [] : [{ name, kind, verb: access.scope.split(":")[1] }],
  );

  // They are POSTs for the size of their input and change nothing.
  const changing = verbs.filter(({ name }) => name !== "policy.validate" && name !== "policy.test");
  expect(changing.filter(({ kind, verb }) => verb !== (kind === "mutation" ? "write" : "read"))).toEqual([]);
});

test("the matrix names every operation", () => {
  expect(allOperations.map(({ name }) => name).toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
});

describe.each(allOperations)("$name", (operation) => {
  const expected = EXPECTED[operation.name];
  test.each(["anonymous", ...ROLES] as const)(
    "F-D3 UI-24 SEC-34 SEC-49 as %s answers the same on REST and tRPC",
    async (role) => {
      const isAllowed =
        expected === "public" ||
        (role !== "anonymous" && (expected === "signed-in" || (expected !== undefined && roleCovers(role, expected))));

      const statuses = await callBoth(clients.get(role) ?? scopeless, operation);

      for (const status of statuses) {
        if (isAllowed && expected !== "public") expect([401, 403]).not.toContain(status);
        else if (!isAllowed) expect(status).toBe(role === "anonymous" ? 401 : 403);
      }
    },
  );

  test("an owner's token without the scope is refused on both", async () => {
    if (expected === "public") return;
    for (const status of await callBoth(scopeless, operation)) expect(status).toBe(403);
  });
});

/** Calls with an input that passes no validation where there is one to fail: rights come first. */
async function callBoth(client: RestClient, operation: (typeof allOperations)[number]): Promise<number[]> {
  const isQuery = operation.contract.kind !== "mutation";
  const probe = encodeURIComponent(JSON.stringify({ probe: true }));
  const statuses: number[] = [];
  if (operation.contract.kind === "subscription") {
    const answer = await client.call("GET", `/trpc/${operation.name}?input=${probe}`, undefined, {
      accept: "text/event-stream",
    });
    // A stream has begun when its refusal comes, so that is an event of it.
    return [
      /"httpStatus":(\d+)/.test(answer.body) ? Number(/"httpStatus":(\d+)/.exec(answer.body)?.[1]) : answer.status,
    ];
  }
  statuses.push(
    (isQuery
      ? await client.get(`/trpc/${operation.name}?input=${probe}`)
      : await client.post(`/trpc/${operation.name}`, { probe: true })
    ).status,
  );
  if (isOperation(operation)) {
    const { method, path } = operation.contract.rest;
    const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => PARAMS[name] ?? "missing");
    const hasBody = method === "POST" || method === "PATCH";
    statuses.push((await client.call(method, `/api/v1${filled}`, hasBody ? { probe: true } : undefined)).status);
  }
  return statuses;
}

async function clientWith(role: Role, scopes: readonly Scope[]): Promise<RestClient> {
  const { db, dispose } = server.database.connect();
  const id = userIds.make(randomBytes);
  const now = new Date();
  await insertUser(db, { id, login: `${role}-${scopes.length}`, role, passwordHash: "none", createdAt: now });
  const token = makeToken("pat", randomBytes).expose();
  await insertToken(db, {
    id: tokenIds.make(randomBytes),
    userId: id,
    createdBy: id,
    name: role,
    hash: hashSecret(token),
    hint: "",
    scopes,
    createdAt: now,
    lastUsedAt: null,
    expiresAt: null,
  });
  await dispose();
  return createRestClient(server.url, { token });
}
