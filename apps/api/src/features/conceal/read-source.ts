import { concealInnerMtu, err, formatConcealLines, makeConceal, ok, parseAmneziaConf } from "@weft/protocol";
import type { ConcealPreset, ConcealProfile, Result } from "@weft/protocol";
import type { ConcealVersion } from "../../db/conceal-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";

/** Draws or reads what a version says; `undefined` when the caller named neither preset nor file. */
export function readSource(
  deps: Pick<FeatureDeps, "random">,
  { preset, conf }: { readonly preset?: ConcealPreset | undefined; readonly conf?: string | undefined },
): Result<Pick<ConcealVersion, "origin" | "settings"> | undefined, Failure> {
  if (preset !== undefined && conf !== undefined) {
    return err({ code: "conceal_fault", key: "conf", rule: "name a preset or send a file, not both" });
  }
  if (preset !== undefined) return checked(preset, makeConceal(preset, deps.random));
  if (conf === undefined) return ok(undefined);
  const read = parseAmneziaConf(conf);
  if (read.ok) return checked("file", read.value.profile);
  const [first] = read.error;
  return err({ code: "conceal_fault", key: first?.key ?? "conf", rule: first?.rule ?? "cannot be read" });
}

function checked(
  origin: string,
  profile: ConcealProfile,
): Result<Pick<ConcealVersion, "origin" | "settings">, Failure> {
  const left = concealInnerMtu(profile, { mtu: 1_500, family: 6 });
  if (left >= INNER_MTU_MIN) return ok({ origin, settings: formatConcealLines(profile) });
  const most = profile.s4 + left - INNER_MTU_MIN;
  const rule = `leaves packets of ${left} bytes on a path of 1,500; IPv6 needs ${INNER_MTU_MIN}: at most ${most}`;
  return err({ code: "conceal_fault", key: "s4", rule });
}

const INNER_MTU_MIN = 1_280;
