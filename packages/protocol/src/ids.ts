import type { Brand } from "./brand.ts";
import type { RandomBytes } from "./inputs.ts";
import { err, ok, type Result } from "./result.ts";

export type PeerId = Brand<string, "PeerId">;
export type NetworkId = Brand<string, "NetworkId">;
export type UserId = Brand<string, "UserId">;
export type RuleId = Brand<string, "RuleId">;
export type EnrolmentKeyId = Brand<string, "EnrolmentKeyId">;
export type TokenId = Brand<string, "TokenId">;
export type GroupId = Brand<string, "GroupId">;
export type RouteId = Brand<string, "RouteId">;
export type NameRecordId = Brand<string, "NameRecordId">;
export type NameserverGroupId = Brand<string, "NameserverGroupId">;
export type RouteApproverId = Brand<string, "RouteApproverId">;
export type JobId = Brand<string, "JobId">;
export type SessionId = Brand<string, "SessionId">;
export type InviteId = Brand<string, "InviteId">;
export type IdentityProviderId = Brand<string, "IdentityProviderId">;
export type IdentityId = Brand<string, "IdentityId">;
export type WebhookId = Brand<string, "WebhookId">;
export type DeliveryId = Brand<string, "DeliveryId">;
export type BackupId = Brand<string, "BackupId">;
export type ConcealProfileId = Brand<string, "ConcealProfileId">;
export type FlowRecordId = Brand<string, "FlowRecordId">;

/** Why a text is not an id of the wanted kind. */
export type IdError = { readonly code: "id"; readonly expected: string; readonly got: string };

/** Everything one kind of id needs: made from 16 random bytes, read from text, carried as 16 bytes. */
export type IdKind<Id extends string> = {
  readonly prefix: string;
  readonly make: (random: RandomBytes) => Id;
  readonly is: (text: unknown) => text is Id;
  readonly parse: (text: string) => Result<Id, IdError>;
  readonly toBytes: (id: Id) => Uint8Array;
  readonly fromBytes: (bytes: Uint8Array) => Result<Id, IdError>;
};

export const peerIds = idKind<PeerId>("peer_");
export const networkIds = idKind<NetworkId>("net_");
export const userIds = idKind<UserId>("user_");
export const ruleIds = idKind<RuleId>("pol_");
export const enrolmentKeyIds = idKind<EnrolmentKeyId>("key_");
export const tokenIds = idKind<TokenId>("tok_");
export const groupIds = idKind<GroupId>("grp_");
export const routeIds = idKind<RouteId>("rt_");
export const nameRecordIds = idKind<NameRecordId>("rec_");
export const nameserverGroupIds = idKind<NameserverGroupId>("ns_");
export const routeApproverIds = idKind<RouteApproverId>("rta_");
export const jobIds = idKind<JobId>("job_");
export const sessionIds = idKind<SessionId>("ses_");
export const inviteIds = idKind<InviteId>("inv_");
export const identityProviderIds = idKind<IdentityProviderId>("idp_");
export const identityIds = idKind<IdentityId>("idn_");
export const webhookIds = idKind<WebhookId>("hook_");
export const deliveryIds = idKind<DeliveryId>("dlv_");
export const backupIds = idKind<BackupId>("bak_");
export const concealProfileIds = idKind<ConcealProfileId>("cpr_");
export const flowRecordIds = idKind<FlowRecordId>("flw_");

/** Bytes behind the text of an id. */
export const ID_BYTES = 16;

function idKind<Id extends string>(prefix: string): IdKind<Id> {
  const is = (text: unknown): text is Id =>
    typeof text === "string" && text.startsWith(prefix) && CANONICAL.test(text.slice(prefix.length));
  const parse = (text: string): Result<Id, IdError> =>
    is(text) ? ok(text) : err({ code: "id", expected: prefix, got: text.slice(0, 64) });
  const fromBytes = (bytes: Uint8Array): Result<Id, IdError> => {
    if (bytes.length !== ID_BYTES) return err({ code: "id", expected: prefix, got: `${bytes.length} bytes` });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what 16 bytes encode to is canonical by construction
    return ok((prefix + encode32(bytes)) as Id);
  };
  return {
    prefix,
    is,
    parse,
    fromBytes,
    toBytes: (id) => decode32(id.slice(prefix.length)),
    make(random) {
      const made = fromBytes(random(ID_BYTES));
      if (!made.ok) throw new Error("the random source must return as many bytes as were asked for");
      return made.value;
    },
  };
}

/** 26 digits of 5 bits hold 16 bytes and two zero bits. */
function encode32(bytes: Uint8Array): string {
  let text = "";
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += DIGITS.charAt((pending >> bits) & 31);
    }
    pending &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + DIGITS.charAt((pending << (5 - bits)) & 31);
}

function decode32(text: string): Uint8Array {
  const bytes = new Uint8Array(ID_BYTES);
  let pending = 0;
  let bits = 0;
  let written = 0;
  for (let index = 0; index < text.length && written < ID_BYTES; index += 1) {
    pending = (pending << 5) | (VALUES[text.charCodeAt(index)] ?? 0);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[written] = pending >> bits;
      written += 1;
      pending &= (1 << bits) - 1;
    }
  }
  return bytes;
}

/** No vowels that make words, no digits that look alike. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const VALUES = new Uint8Array(128);
for (let value = 0; value < DIGITS.length; value += 1) VALUES[DIGITS.charCodeAt(value)] = value;
/** The last digit carries three bits; its low two are zero. */
const CANONICAL = /^[0-9a-hjkmnp-tv-z]{25}[048cgmrw]$/;
