import {
  backupIds,
  concealProfileIds,
  deliveryIds,
  enrolmentKeyIds,
  flowRecordIds,
  groupIds,
  identityIds,
  identityProviderIds,
  inviteIds,
  jobIds,
  nameRecordIds,
  nameserverGroupIds,
  networkIds,
  peerIds,
  routeApproverIds,
  routeIds,
  ruleIds,
  sessionIds,
  tokenIds,
  userIds,
  webhookIds,
} from "@weft/protocol";
import { z } from "zod";

/** Ids are opaque text with a prefix that names their kind. */
const id = (kind: { readonly prefix: string; readonly is: (text: unknown) => boolean }) =>
  z.string().refine(kind.is, `expected an id that begins with ${kind.prefix}`);

export const NetworkIdSchema = id(networkIds);
export const PeerIdSchema = id(peerIds);
export const UserIdSchema = id(userIds);
export const EnrolmentKeyIdSchema = id(enrolmentKeyIds);
export const TokenIdSchema = id(tokenIds);
export const GroupIdSchema = id(groupIds);
export const RouteIdSchema = id(routeIds);
export const NameRecordIdSchema = id(nameRecordIds);
export const NameserversIdSchema = id(nameserverGroupIds);
export const RouteApproverIdSchema = id(routeApproverIds);
export const RuleIdSchema = id(ruleIds);
export const SessionIdSchema = id(sessionIds);
export const JobIdSchema = id(jobIds);
export const InviteIdSchema = id(inviteIds);
export const IdentityProviderIdSchema = id(identityProviderIds);
export const IdentityIdSchema = id(identityIds);
export const BackupIdSchema = id(backupIds);
export const ConcealProfileIdSchema = id(concealProfileIds);
export const FlowRecordIdSchema = id(flowRecordIds);
export const WebhookIdSchema = id(webhookIds);
export const DeliveryIdSchema = id(deliveryIds);

/** RFC 3339 in UTC. */
export const TimeSchema = z.iso.datetime();

/** A 64-bit counter as decimal text, because JSON numbers lose bits above 2^53. */
export const CounterSchema = z.string().regex(/^\d{1,20}$/);

/** The answer of every list. */
export function listOutput<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    nextCursor: z.string().nullable(),
    total: z.int().optional(),
  });
}
