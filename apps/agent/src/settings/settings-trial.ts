import { err, ok, type Result } from "@weft/protocol";

/**
 * Reads `WEFT_SETTINGS_TRIAL_SECONDS`: how long new addresses, routes, exit node and names may cut this host from the
 * control plane before the previous ones come back; 5 to 3600, unset = 60.
 */
export function settingsTrialMs(
  environment: NodeJS.ProcessEnv,
): Result<number, { readonly code: "bad_environment"; readonly message: string }> {
  const text = environment["WEFT_SETTINGS_TRIAL_SECONDS"] ?? "";
  if (text === "") return ok(60_000);
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (seconds >= 5 && seconds <= 3_600) return ok(seconds * 1_000);
  return err({
    code: "bad_environment",
    message: `WEFT_SETTINGS_TRIAL_SECONDS must be a number from 5 to 3600, not "${text.slice(0, 40)}"`,
  });
}
