import { createHash } from "node:crypto";
import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Failure } from "../domain/failure.ts";
import type { Call } from "./call.ts";

/** Fields that calls can change: the tag of an item stands for them, not for presence and counters, which move by themselves. */
export const VERSIONED = {
  network: [
    "id",
    "name",
    "ipv4Range",
    "ipv6Range",
    "profileFallback",
    "approval",
    "membershipSeconds",
    "idleRemovalSeconds",
    "flowSampling",
    "flowKeepHours",
  ],
  peer: ["id", "name", "publicKey", "ipv4", "ipv6", "state", "expiresAt", "groupIds", "gatewayPeerId"],
  policy: ["networkId", "version"],
  group: ["id", "name", "description"],
  nameSettings: ["networkId", "state", "domain", "searchDomains", "leftAloneGroupIds"],
  nameRecord: ["id", "name", "type", "value", "ttlSeconds", "description"],
  nameservers: ["id", "name", "description", "servers", "domains", "groupIds", "state"],
  concealProfile: ["id", "name", "description", "version"],
  concealPlan: ["networkId", "base", "next", "groupIds", "state"],
  webhook: ["id", "name", "url", "actions", "state"],
} as const;

export type VersionedKind = keyof typeof VERSIONED;

/** Entity tag of an item. */
export function tagOf(kind: VersionedKind, item: Readonly<Record<string, unknown>>): string {
  const values = VERSIONED[kind].map((field) => item[field] ?? null);
  return `"${createHash("sha256").update(JSON.stringify(values)).digest("base64url").slice(0, 22)}"`;
}

/** Refuses a change of an item that is no longer what the caller saw; called under the lock of the change. */
export function checkVersion(call: Pick<Call, "ifMatch">, tag: string): Result<void, Failure> {
  if (call.ifMatch === undefined) return ok(undefined);
  const wanted = new Set(call.ifMatch.split(",").map((one) => one.trim()));
  return wanted.has("*") || wanted.has(tag) ? ok(undefined) : err({ code: "version_mismatch", tag });
}
