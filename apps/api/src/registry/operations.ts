import type { Result } from "@weft/protocol";
import type { Failure } from "../domain/failure.ts";
import { auditEventsOperations } from "../features/audit/operations.ts";
import { expirationsOperations } from "../features/expirations/operations.ts";
import { backupsOperations } from "../features/backups/operations.ts";
import { configurationOperations } from "../features/configuration/operations.ts";
import { concealOperations } from "../features/conceal/operations.ts";
import { enrolmentKeysOperations } from "../features/enrolment/operations.ts";
import { flowLogsOperations } from "../features/flows/operations.ts";
import { groupsOperations } from "../features/groups/operations.ts";
import { instanceOperations } from "../features/instance/operations.ts";
import { jobsOperations } from "../features/jobs/operations.ts";
import { liveOperations } from "../features/live/operations.ts";
import { nameRecordsOperations, nameserversOperations, nameSettingsOperations } from "../features/names/operations.ts";
import { networksOperations } from "../features/networks/operations.ts";
import { clientsOperations } from "../features/clients/operations.ts";
import { peersOperations } from "../features/peers/operations.ts";
import { policyOperations } from "../features/policy/operations.ts";
import { routeApproversOperations, routesOperations } from "../features/routes/operations.ts";
import { rulesOperations } from "../features/rules/operations.ts";
import { sessionsOperations } from "../features/sessions/operations.ts";
import { setupOperations } from "../features/setup/operations.ts";
import { tokensOperations } from "../features/tokens/operations.ts";
import { usersOperations } from "../features/users/operations.ts";
import { invitesOperations } from "../features/invites/operations.ts";
import { serviceAccountsOperations } from "../features/service-accounts/operations.ts";
import { accountOperations } from "../features/account/operations.ts";
import { identityProvidersOperations } from "../features/identity-providers/operations.ts";
import { webhooksOperations } from "../features/webhooks/operations.ts";
import type { Call } from "./call.ts";
import type { OperationContract, SubscriptionContract } from "./contract-kit.ts";
import { contracts } from "./contracts.ts";
import type { Contracts } from "./contracts.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import type { HandlersOf } from "./handler.ts";

/** An operation that answers once. */
export type Operation = {
  readonly name: string;
  readonly contract: OperationContract;
  readonly run: (deps: FeatureDeps, call: Call, input: never) => Promise<Result<unknown, Failure>>;
};

/** An operation that answers with a stream of events. */
export type StreamOperation = {
  readonly name: string;
  readonly contract: SubscriptionContract;
  readonly run: (
    deps: FeatureDeps,
    input: never,
    signal: AbortSignal,
  ) => Promise<Result<AsyncIterable<unknown>, Failure>>;
};

/** Every contract needs its function, every function its contract: the compiler counts. */
const handlers: { readonly [Noun in keyof Contracts]: HandlersOf<Contracts[Noun]> } = {
  setup: setupOperations,
  sessions: sessionsOperations,
  instance: instanceOperations,
  networks: networksOperations,
  peers: peersOperations,
  clients: clientsOperations,
  groups: groupsOperations,
  enrolmentKeys: enrolmentKeysOperations,
  rules: rulesOperations,
  policy: policyOperations,
  routes: routesOperations,
  nameSettings: nameSettingsOperations,
  nameRecords: nameRecordsOperations,
  nameservers: nameserversOperations,
  conceal: concealOperations,
  configuration: configurationOperations,
  routeApprovers: routeApproversOperations,
  tokens: tokensOperations,
  users: usersOperations,
  invites: invitesOperations,
  serviceAccounts: serviceAccountsOperations,
  account: accountOperations,
  identityProviders: identityProvidersOperations,
  auditEvents: auditEventsOperations,
  flowLogs: flowLogsOperations,
  expirations: expirationsOperations,
  webhooks: webhooksOperations,
  backups: backupsOperations,
  jobs: jobsOperations,
  live: liveOperations,
};

/** All operations in the order of the contracts. */
export const allOperations: readonly (Operation | StreamOperation)[] = Object.entries(contracts).flatMap(
  ([noun, verbs]) => {
    const byNoun: Readonly<Record<string, Readonly<Record<string, unknown>>>> = handlers;
    return Object.entries(verbs).map(([verb, contract]) => {
      const joined = { name: `${noun}.${verb}`, contract, run: byNoun[noun]?.[verb] };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `handlers` ties each function to its contract
      return joined as Operation | StreamOperation;
    });
  },
);

/** Operations that answer once. */
export const operations: readonly Operation[] = allOperations.filter(isOperation);

/** Tells the two kinds apart. */
export function isOperation(operation: Operation | StreamOperation): operation is Operation {
  return operation.contract.kind !== "subscription";
}
