import { auditList } from "./audit-repository.ts";
import { backupsList } from "./backups-repository.ts";
import { concealList } from "./conceal-repository.ts";
import { deliveriesList } from "./deliveries-repository.ts";
import { enrolmentKeysList } from "./enrolment-keys-repository.ts";
import type { ListTable } from "./lists.ts";
import { nameserversList, recordsList } from "./names-repository.ts";
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
  nameRecords: { list: recordsList, scopedBy: "network_id" },
  nameservers: { list: nameserversList, scopedBy: "network_id" },
  networks: { list: networksList },
  peers: { list: peersList, scopedBy: "network_id" },
  rules: { list: rulesList, scopedBy: "network_id" },
  tokens: { list: tokensList },
  webhookDeliveries: { list: deliveriesList, scopedBy: "webhook_id" },
  webhooks: { list: webhooksList },
};
