import { auditEventsContract } from "../features/audit/contract.ts";
import { expirationsContract } from "../features/expirations/contract.ts";
import { backupsContract } from "../features/backups/contract.ts";
import { configurationContract } from "../features/configuration/contract.ts";
import { concealContract } from "../features/conceal/contract.ts";
import { enrolmentKeysContract } from "../features/enrolment/contract.ts";
import { flowLogsContract } from "../features/flows/contract.ts";
import { groupsContract } from "../features/groups/contract.ts";
import { instanceContract } from "../features/instance/contract.ts";
import { jobsContract } from "../features/jobs/contract.ts";
import { liveContract } from "../features/live/contract.ts";
import { nameRecordsContract, nameserversContract, nameSettingsContract } from "../features/names/contract.ts";
import { networksContract } from "../features/networks/contract.ts";
import { clientsContract } from "../features/clients/contract.ts";
import { peersContract } from "../features/peers/contract.ts";
import { policyContract } from "../features/policy/contract.ts";
import { routeApproversContract, routesContract } from "../features/routes/contract.ts";
import { rulesContract } from "../features/rules/contract.ts";
import { sessionsContract } from "../features/sessions/contract.ts";
import { setupContract } from "../features/setup/contract.ts";
import { tokensContract } from "../features/tokens/contract.ts";
import { usersContract } from "../features/users/contract.ts";
import { invitesContract } from "../features/invites/contract.ts";
import { serviceAccountsContract } from "../features/service-accounts/contract.ts";
import { accountContract } from "../features/account/contract.ts";
import { identityProvidersContract } from "../features/identity-providers/contract.ts";
import { webhooksContract } from "../features/webhooks/contract.ts";

/** Every operation of this server; REST, tRPC, OpenAPI and the permission matrix are all derived from it. */
export const contracts = {
  setup: setupContract,
  sessions: sessionsContract,
  instance: instanceContract,
  networks: networksContract,
  peers: peersContract,
  clients: clientsContract,
  groups: groupsContract,
  enrolmentKeys: enrolmentKeysContract,
  rules: rulesContract,
  policy: policyContract,
  routes: routesContract,
  nameSettings: nameSettingsContract,
  nameRecords: nameRecordsContract,
  nameservers: nameserversContract,
  conceal: concealContract,
  configuration: configurationContract,
  routeApprovers: routeApproversContract,
  tokens: tokensContract,
  users: usersContract,
  invites: invitesContract,
  serviceAccounts: serviceAccountsContract,
  account: accountContract,
  identityProviders: identityProvidersContract,
  auditEvents: auditEventsContract,
  flowLogs: flowLogsContract,
  expirations: expirationsContract,
  webhooks: webhooksContract,
  backups: backupsContract,
  jobs: jobsContract,
  live: liveContract,
};

export type Contracts = typeof contracts;
