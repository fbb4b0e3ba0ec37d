import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Secret } from "@weft/protocol";
import { z } from "zod";
import { parseTrafficKeep } from "./domain/traffic-steps.ts";
import type { TrafficKeep } from "./domain/traffic-steps.ts";

/** Everything an operator can set, checked. */
export type Config = {
  readonly listen: { readonly host: string; readonly port: number };
  readonly socketPath: string | undefined;
  /** Where metrics are served; nowhere when left out. */
  readonly metricsListen: { readonly host: string; readonly port: number } | undefined;
  readonly dataFolder: string;
  readonly databaseUrl: Secret<string> | undefined;
  readonly publicUrl: string | undefined;
  readonly setupToken: string;
  /** Makes the first account without a browser, once; see `setup.createServiceAccount`. */
  readonly bootstrapToken: string | undefined;
  readonly logLevel: string;
  readonly webFolder: string;
  /** Where the agent's build puts the archives for hosts. */
  readonly agentFolder: string;
  readonly trustProxy: boolean | string;
  /** Whether webhooks may reach addresses that are not public. */
  readonly webhookPrivateTargets: "refuse" | "allow";
  /** Days that audit events are kept. */
  readonly auditDays: number;
  /** How long steps of traffic are kept. */
  readonly trafficKeep: TrafficKeep;
  /** Where to look for newer releases, once a day; nowhere when left out. */
  readonly updateFeed: URL | undefined;
  readonly rateLimit: { readonly perSecond: number; readonly burst: number };
};

/** Reads the environment; the only place that does. Throws one sentence for each wrong value. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = EnvironmentSchema.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw new Error(`the environment has wrong values:\n${lines.join("\n")}`);
  }
  const env = parsed.data;
  return {
    listen: env.WEFT_LISTEN,
    socketPath: env.WEFT_SOCKET,
    metricsListen: env.WEFT_METRICS_LISTEN,
    dataFolder: resolve(env.WEFT_DATA_DIR),
    databaseUrl: env.DATABASE_URL === undefined ? undefined : new Secret(env.DATABASE_URL),
    publicUrl: env.WEFT_PUBLIC_URL,
    setupToken: env.WEFT_SETUP_TOKEN ?? randomBytes(18).toString("base64url"),
    bootstrapToken: env.WEFT_BOOTSTRAP_TOKEN ?? fromFile(env.WEFT_BOOTSTRAP_TOKEN_FILE),
    logLevel: env.WEFT_LOG,
    webFolder: env.WEFT_WEB_DIR ?? join(import.meta.dirname, "../../web/dist"),
    agentFolder: env.WEFT_AGENT_DIR ?? join(import.meta.dirname, "../../agent/release"),
    trustProxy: env.WEFT_TRUST_PROXY,
    webhookPrivateTargets: env.WEFT_WEBHOOK_PRIVATE_TARGETS,
    auditDays: env.WEFT_AUDIT_DAYS,
    trafficKeep: env.WEFT_TRAFFIC_KEEP,
    updateFeed: env.WEFT_UPDATE_FEED,
    rateLimit: env.WEFT_RATE_LIMIT,
  };
}

/** A port alone means loopback: what metrics tell is not for everybody. */
const MetricsListenSchema = z
  .string()
  .transform((text) => (/^\d{1,5}$/.test(text) ? `127.0.0.1:${text}` : text))
  .pipe(z.lazy(() => ListenSchema));

const ListenSchema = z.string().transform((text, context) => {
  const match = /^(.*):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (!match || port > 65_535) {
    context.addIssue({ code: "custom", message: "expected host:port, such as 0.0.0.0:7400 or [::]:7400" });
    return z.NEVER;
  }
  return { host: (match[1] ?? "").replace(/^\[|\]$/g, "") || "0.0.0.0", port };
});

const RateLimitSchema = z.string().transform((text, context) => {
  const match = /^(\d+)\/(\d+)$/.exec(text);
  const perSecond = Number(match?.[1]);
  const burst = Number(match?.[2]);
  if (!match || perSecond < 1 || burst < 1) {
    context.addIssue({ code: "custom", message: "expected requests per second and burst, such as 20/300" });
    return z.NEVER;
  }
  return { perSecond, burst };
});

const TrafficKeepSchema = z.string().transform((text, context) => {
  const keep = parseTrafficKeep(text);
  if (keep) return keep;
  context.addIssue({
    code: "custom",
    message:
      "expected how long steps of 10 s, 1 min and 1 h are kept, such as 1h/7d/365d, none shorter than the one before",
  });
  return z.NEVER;
});

const FeedSchema = z.string().transform((text, context) => {
  const url = text.startsWith("/") ? pathToFileURL(text) : URL.canParse(text) ? new URL(text) : undefined;
  const isHttps = url?.protocol === "https:" && url.username === "" && url.password === "";
  if (url && (isHttps || url.protocol === "file:")) return url;
  context.addIssue({ code: "custom", message: "expected https://… without a login, or the path of a file" });
  return z.NEVER;
});

const BootstrapSchema = z.string().min(24, "needs at least 24 characters").max(200);

/** Throws one sentence when the file cannot be read, or holds no good token. */
function fromFile(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`WEFT_BOOTSTRAP_TOKEN_FILE: ${reason}`, { cause: error });
  }
  const parsed = BootstrapSchema.safeParse(text);
  if (!parsed.success) throw new Error("WEFT_BOOTSTRAP_TOKEN_FILE: the file needs 24 to 200 characters");
  return parsed.data;
}

const EnvironmentSchema = z.object({
  WEFT_LISTEN: ListenSchema.prefault("0.0.0.0:7400"),
  WEFT_SOCKET: z.string().optional(),
  WEFT_METRICS_LISTEN: MetricsListenSchema.optional(),
  WEFT_DATA_DIR: z.string().default(".weft/server"),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  WEFT_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => new URL(url).origin)
    .optional(),
  WEFT_SETUP_TOKEN: z.string().min(16, "needs at least 16 characters").optional(),
  WEFT_BOOTSTRAP_TOKEN: BootstrapSchema.optional(),
  WEFT_BOOTSTRAP_TOKEN_FILE: z.string().optional(),
  WEFT_LOG: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  WEFT_WEB_DIR: z.string().optional(),
  WEFT_AGENT_DIR: z.string().optional(),
  /** "true", "false", or the addresses of proxies to believe. */
  WEFT_TRUST_PROXY: z
    .string()
    .default("false")
    .transform((text) => (text === "true" ? true : text === "false" ? false : text)),
  WEFT_WEBHOOK_PRIVATE_TARGETS: z.enum(["refuse", "allow"]).default("refuse"),
  WEFT_AUDIT_DAYS: z.coerce.number("expected a number of days").int().min(1).max(36_500).default(365),
  WEFT_TRAFFIC_KEEP: TrafficKeepSchema.prefault("1h/7d/365d"),
  WEFT_UPDATE_FEED: FeedSchema.optional(),
  WEFT_RATE_LIMIT: RateLimitSchema.prefault("20/300"),
});
