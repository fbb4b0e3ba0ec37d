import { routeApproversList } from "./route-approvers-repository.ts";
import { groupsList } from "./groups-repository.ts";
import { providersList } from "./identities-repository.ts";
import { invitesList } from "./invites-repository.ts";
import { policyVersionsList } from "./policy-repository.ts";
import { routesList } from "./routes-repository.ts";
import { sessionsList } from "./sessions-repository.ts";
import { usersList } from "./users-repository.ts";
import { auditList } from "./audit-repository.ts";
import { backupsList } from "./backups-repository.ts";
import { concealList } from "./conceal-repository.ts";
import { deliveriesList } from "./deliveries-repository.ts";
import { enrolmentKeysList } from "./enrolment-keys-repository.ts";
import { flowRecordsList } from "./flow-records-repository.ts";
import type { ListTable } from "./lists.ts";
import { nameserversList, recordsList } from "./names-repository.ts";
import { jobsList } from "./jobs-repository.ts";
import { networksList } from "./networks-repository.ts";
import { concealNodesList, peersList } from "./peers-repository.ts";
import { rulesList } from "./rules-repository.ts";
import { tokensList } from "./tokens-repository.ts";
import { webhooksList } from "./webhooks-repository.ts";

/** The table behind every list, by the name in its definition, with what callers cannot choose. */
export const LIST_TABLES: Readonly<Record<string, { readonly list: ListTable; readonly scopedBy?: string }>> = {
  auditEvents: { list: auditList },
  backups: { list: backupsList },
  concealNodes: { list: concealNodesList, scopedBy: "network_id" },
  concealProfiles: { list: concealList, scopedBy: "network_id" },
  enrolmentKeys: { list: enrolmentKeysList, scopedBy: "network_id" },
  flowRecords: { list: flowRecordsList, scopedBy: "network_id" },
  groups: { list: groupsList, scopedBy: "network_id" },
  identityProviders: { list: providersList },
  invites: { list: invitesList },
  jobs: { list: jobsList, scopedBy: "network_id" },
  nameRecords: { list: recordsList, scopedBy: "network_id" },
  nameservers: { list: nameserversList, scopedBy: "network_id" },
  networks: { list: networksList },
  peers: { list: peersList, scopedBy: "network_id" },
  policyVersions: { list: policyVersionsList, scopedBy: "network_id" },
  routeApprovers: { list: routeApproversList, scopedBy: "network_id" },
  routes: { list: routesList, scopedBy: "network_id" },
  rules: { list: rulesList, scopedBy: "network_id" },
  serviceAccounts: { list: usersList, scopedBy: "kind" },
  sessions: { list: sessionsList },
  tokens: { list: tokensList },
  users: { list: usersList, scopedBy: "kind" },
  webhookDeliveries: { list: deliveriesList, scopedBy: "webhook_id" },
  webhooks: { list: webhooksList },
};
