import type { Timers } from "../stream/timers.ts";
import type { Log } from "./log.ts";
import { isSameOwn, type OwnSettings } from "./own-settings.ts";

/**
 * Puts new own settings on trial: those under which the server does not answer any more give way to the ones under
 * which it did. The mesh goes on either way, and peers and filters are the newest all the time.
 */
export type SettingsTrial = {
  /** A map was applied; `wanted` is what it says. */
  readonly applied: (wanted: OwnSettings) => void;
  /** The server answered something that was asked at a moment. */
  readonly answered: (askedAtMs: number) => void;
  readonly problems: () => readonly string[];
  /** The map is gone, and what it said. */
  readonly forget: () => void;
  readonly stop: () => void;
};

export type SettingsTrialDeps = {
  readonly timers: Timers;
  readonly log: Log;
  readonly trialMs: number;
  /** Settings of an earlier run under which the server answered. */
  readonly load: () => OwnSettings | null;
  readonly save: (proven: OwnSettings) => void;
  /** Uses settings instead of those of the map; `null`: the map's again. */
  readonly use: (own: OwnSettings | null) => void;
  /** Asks the server something. */
  readonly ask: () => void;
  readonly reconnect: (reason: string) => void;
  /** Problems may be others now. */
  readonly changed: () => void;
};

type Stage =
  /** No map yet. */
  | { readonly kind: "none" }
  | { readonly kind: "proven" }
  | { readonly kind: "trial"; readonly wanted: OwnSettings; readonly sinceMs: number }
  /** The previous ones are in use; the server has to answer for them. */
  | { readonly kind: "back"; readonly wanted: OwnSettings; readonly sinceMs: number }
  /** The server answered under the previous ones only. */
  | { readonly kind: "refused"; readonly wanted: OwnSettings }
  /** Neither helped: the server is away, and the map counts until it is back. */
  | { readonly kind: "away"; readonly wanted: OwnSettings; readonly sinceMs: number };

export function createSettingsTrial(deps: SettingsTrialDeps): SettingsTrial {
  const { timers, log, trialMs } = deps;
  let stage: Stage = { kind: "none" };
  let proven = deps.load();
  let cancel = (): void => {};

  const enter = (next: Stage): void => {
    cancel();
    stage = next;
    if ("sinceMs" in next) probe(next.sinceMs);
    deps.changed();
  };
  /** Asks a few times until the trial is over; how it ends depends on what it is about. */
  const probe = (sinceMs: number): void => {
    cancel = timers.after(trialMs / PROBES, () => {
      if (stage.kind === "away" || timers.nowMs() - sinceMs < trialMs) {
        deps.ask();
        probe(sinceMs);
      } else unanswered();
    });
  };
  const unanswered = (): void => {
    if (stage.kind !== "trial" && stage.kind !== "back") return;
    const { kind, wanted } = stage;
    const sinceMs = timers.nowMs();
    if (kind === "back" || proven === null) {
      if (kind === "back") deps.use(null);
      log.warn("settings_not_proven", { message: "the server answers under no settings; those of the map stay" });
      return enter({ kind: "away", wanted, sinceMs });
    }
    log.error("settings_taken_back", { message: TAKEN_BACK });
    deps.use(proven);
    enter({ kind: "back", wanted, sinceMs });
    deps.reconnect("the previous settings are in use again");
  };
  return {
    applied(wanted) {
      if ((stage.kind === "none" || stage.kind === "proven") && proven && isSameOwn(proven, wanted)) {
        // The next change is compared with this very object, which costs nothing.
        proven = wanted;
        stage = { kind: "proven" };
        return undefined;
      }
      if ("wanted" in stage && isSameOwn(stage.wanted, wanted)) return undefined;
      if (stage.kind === "back" || stage.kind === "refused") deps.use(null);
      return enter({ kind: "trial", wanted, sinceMs: timers.nowMs() });
    },
    answered(askedAtMs) {
      if (!("sinceMs" in stage) || askedAtMs < stage.sinceMs + Math.min(SETTLE_MS, trialMs / PROBES)) return;
      if (stage.kind === "back") return enter({ kind: "refused", wanted: stage.wanted });
      proven = stage.wanted;
      deps.save(proven);
      enter({ kind: "proven" });
    },
    problems: () => (stage.kind === "back" || stage.kind === "refused" ? [TAKEN_BACK] : []),
    forget() {
      cancel();
      [stage, proven] = [{ kind: "none" }, null];
    },
    stop: () => cancel(),
  };
}

const TAKEN_BACK =
  "settings: under its new addresses, routes, exit node or names this host did not reach the server, so the previous " +
  "ones are in use; change them again on the server";
const PROBES = 6;
/** Routes and names are set by other programs, a moment after the map was applied. */
const SETTLE_MS = 2_000;
