import { err, identityProviderIds, ok } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import {
  changeProvider,
  deleteProvider,
  enabledProviders,
  insertProvider,
  listProviders as readProviders,
  lockProvider,
} from "../../db/identities-repository.ts";
import type { IdentityProvider } from "../../db/identities-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { identityProvidersSpec } from "./contract.ts";
import type { identityProvidersContract } from "./contract.ts";
import { redirectUri, sealClientSecret } from "./provider-secrets.ts";

/** Lists providers, newest first unless the caller wants another order. */
export async function listProviders(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof identityProvidersContract.list>,
): Outcome<typeof identityProvidersContract.list> {
  const { db } = deps.database;
  return answerList(deps, {
    spec: identityProvidersSpec,
    scope: "",
    input,
    read: (request) => readProviders(db, request),
    view: (provider) => providerView(deps, call, provider),
  });
}

/** Lists what the login page offers. */
export async function offeredProviders(deps: FeatureDeps): Outcome<typeof identityProvidersContract.offered> {
  const providers = await enabledProviders(deps.database.db);
  return ok({ providers: providers.map(({ id, name }) => ({ id, name })) });
}

/** Adds a provider; it is asked for the first time when somebody signs in. */
export async function createProvider(
  deps: FeatureDeps,
  call: Call,
  { clientSecret, ...input }: InputOf<typeof identityProvidersContract.create>,
): Outcome<typeof identityProvidersContract.create> {
  const now = new Date(deps.clock.nowMs());
  const id = identityProviderIds.make(deps.random);
  const sealed = clientSecret === undefined ? null : sealClientSecret(deps, id, clientSecret);
  const provider = { id, ...input, clientSecret: sealed, createdAt: now };
  const create = () =>
    transact(deps.database.db, async (tx) => {
      await insertProvider(tx, provider);
      const after = providerView(deps, call, provider);
      const note = { action: "identityProviders.create", objectId: id, networkId: null };
      await recordAudit(tx, call, { ...note, before: null, after, at: now });
      return ok(after);
    });
  return create().catch(nameTaken(input.name));
}

/** Changes a provider. */
export async function updateProvider(
  deps: FeatureDeps,
  call: Call,
  { identityProviderId: id, clientSecret, ...input }: InputOf<typeof identityProvidersContract.update>,
): Outcome<typeof identityProvidersContract.update> {
  const { name, issuer, clientId, newcomers, isEnabled } = input;
  const change = {
    ...(name !== undefined && { name }),
    ...(issuer !== undefined && { issuer }),
    ...(clientId !== undefined && { clientId }),
    ...(newcomers !== undefined && { newcomers }),
    ...(isEnabled !== undefined && { isEnabled }),
    ...(clientSecret !== undefined && {
      clientSecret: clientSecret === null ? null : sealClientSecret(deps, id, clientSecret),
    }),
  };
  const update = () =>
    transact(deps.database.db, async (tx) => {
      const before = await lockProvider(tx, id);
      if (!before) return err({ code: "not_found", what: "identity provider" });
      const after = { ...before, ...change };
      if (Object.keys(change).length > 0) await changeProvider(tx, id, change);
      const view = providerView(deps, call, after);
      await recordAudit(tx, call, {
        action: "identityProviders.update",
        objectId: id,
        networkId: null,
        before: providerView(deps, call, before),
        after: view,
        at: new Date(deps.clock.nowMs()),
      });
      return ok(view);
    });
  return update().catch(nameTaken(name ?? ""));
}

/** Removes a provider. */
export async function removeProvider(
  deps: FeatureDeps,
  call: Call,
  { identityProviderId }: InputOf<typeof identityProvidersContract.remove>,
): Outcome<typeof identityProvidersContract.remove> {
  return transact(deps.database.db, async (tx) => {
    const provider = await deleteProvider(tx, identityProviderId);
    if (!provider) return err({ code: "not_found", what: "identity provider" });
    const before = providerView(deps, call, provider);
    const note = { action: "identityProviders.remove", objectId: provider.id, networkId: null };
    await recordAudit(tx, call, { ...note, before, after: null, at: new Date(deps.clock.nowMs()) });
    return ok(undefined);
  });
}

/** A provider as administrators see it; the secret is not part of it. */
function providerView(deps: FeatureDeps, call: Call, { clientSecret, createdAt, ...rest }: IdentityProvider) {
  return {
    ...rest,
    hasClientSecret: clientSecret !== null,
    redirectUri: redirectUri(deps, call),
    createdAt: createdAt.toISOString(),
  };
}

function nameTaken(name: string) {
  return (error: unknown) => {
    if (isDuplicate(error, "identity_providers_name_unique")) return err({ code: "name_taken", name } as const);
    throw error;
  };
}
