import { concealAdvice, concealInnerMtu, concealKeys, parseConcealLines } from "@weft/protocol";
import type { ConcealProfile } from "@weft/protocol";
import type { ConcealVersion, StoredConceal } from "../../db/conceal-repository.ts";

/** A profile as callers see it. */
export function concealView({ id, networkId, name, description, version, createdAt }: StoredConceal) {
  return { id, networkId, name, description, version, createdAt: createdAt.toISOString() };
}

/** The same with what its newest version says; `versions` begin with that. */
export function concealDetail(profile: StoredConceal, versions: readonly ConcealVersion[]) {
  const newest = storedProfile(versions[0]?.settings ?? "");
  return {
    ...concealView(profile),
    keys: Object.fromEntries(concealKeys(newest).map(([key, value]) => [key, key === HEADER_KEY ? "[secret]" : value])),
    advice: [...concealAdvice(newest)],
    innerMtu: concealInnerMtu(newest, { mtu: 1_500, family: 6 }),
    versions: versions.map(({ version, origin, createdAt }) => ({
      version,
      origin,
      createdAt: createdAt.toISOString(),
    })),
  };
}

/** Reads settings that were checked when they were stored. */
export function storedProfile(settings: string): ConcealProfile {
  const read = parseConcealLines(settings);
  if (!read.ok) throw new Error("the database holds a profile that was never written");
  return read.value;
}

const HEADER_KEY = "header_protection_key";
