import { err, ok, type Result } from "@weft/protocol";

/** Reads `WEFT_METRICS_PORT`: the port on loopback where metrics are served; unset = none. */
export function metricsPort(
  environment: NodeJS.ProcessEnv,
): Result<number | null, { readonly code: "bad_environment"; readonly message: string }> {
  const text = environment["WEFT_METRICS_PORT"] ?? "";
  if (text === "") return ok(null);
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return ok(port);
  return err({ code: "bad_environment", message: `WEFT_METRICS_PORT must be a port from 1 to 65535, not "${text}"` });
}
