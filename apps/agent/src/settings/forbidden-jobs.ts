import { err, ok, WORK_KINDS, type JobWork, type Result } from "@weft/protocol";

/** Work that the server must not ask of this host. */
export type ForbiddenJobs = ReadonlySet<JobWork["kind"]>;

/** Reads `WEFT_FORBIDDEN_JOBS`: kinds by comma, such as `profile,debugBundle`; unset = none. */
export function forbiddenJobs(
  environment: NodeJS.ProcessEnv,
): Result<ForbiddenJobs, { readonly code: "bad_environment"; readonly message: string }> {
  const words = (environment["WEFT_FORBIDDEN_JOBS"] ?? "").split(",").flatMap((word) => word.trim() || []);
  const kinds = words.flatMap((word) => WORK_KINDS.find((kind) => kind === word) ?? []);
  if (kinds.length === words.length) return ok(new Set(kinds));
  const message = `WEFT_FORBIDDEN_JOBS must be a list of ${WORK_KINDS.join(", ")}, not "${words.join(",")}"`;
  return err({ code: "bad_environment", message });
}
