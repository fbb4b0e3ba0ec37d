import { removeFile } from "../state/files.ts";
import { loadOwnSettings, saveOwnSettings } from "../state/own-settings-file.ts";
import type { StateStore } from "../state/state-store.ts";
import type { Timers } from "../stream/timers.ts";
import type { ControlClient } from "./control-client.ts";
import type { Log } from "./log.ts";
import type { MapSync } from "./map-sync.ts";
import { createSettingsTrial, type SettingsTrial } from "./settings-trial.ts";

/** The trial of a node's own settings, following the newest map. */
export type NodeSettingsTrial = Omit<SettingsTrial, "applied"> & { readonly follow: () => void };

export function createNodeSettingsTrial(
  deps: { readonly timers: Timers; readonly log: Log; readonly store: StateStore; readonly settingsTrialMs: number },
  own: {
    readonly sync: MapSync;
    readonly control: () => Pick<ControlClient, "ask" | "reconnectNow">;
    /** Other own settings are in use now. */
    readonly used: () => void;
    readonly changed: () => void;
  },
): NodeSettingsTrial {
  const { store, log } = deps;
  const path = store.paths.ownSettings;
  const trial = createSettingsTrial({
    ...deps,
    trialMs: deps.settingsTrialMs,
    load: () => loadOwnSettings(path),
    save(proven) {
      const saved = saveOwnSettings(path, proven);
      if (!saved.ok) log.error("own_settings_not_saved", { message: saved.error.message });
    },
    use(settings) {
      for (const { detail } of own.sync.useOwn(settings)) log.error("own_settings_not_set", { detail });
      own.used();
    },
    ask: () => own.control().ask(),
    reconnect: (reason) => own.control().reconnectNow(reason),
    changed: own.changed,
  });
  return {
    ...trial,
    follow() {
      const wanted = own.sync.wanted();
      if (wanted) trial.applied(wanted);
    },
    forget() {
      trial.forget();
      removeFile(path);
    },
  };
}
