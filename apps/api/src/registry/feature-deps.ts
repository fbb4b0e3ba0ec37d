import type { RandomBytes, Result, ServerKey } from "@weft/protocol";
import type { z } from "zod";
import type { BackupSide } from "../backup/backup-side.ts";
import type { Database, Executor } from "../db/client.ts";
import type { AgentInstaller } from "./agent-installer.ts";
import type { Call } from "./call.ts";
import type { OperationContract } from "./contract-kit.ts";
import type { Cursors } from "./cursors.ts";
import type { JobDesk } from "./job-desk.ts";
import type { LiveState } from "./live-state.ts";
import type { LoginThrottle } from "../domain/login-throttle.ts";
import type { OidcClient } from "./oidc.ts";
import type { Failure } from "../domain/failure.ts";
import type { Passwords } from "./passwords.ts";
import type { Vault } from "./vault.ts";

/** Wall clock; the server's origin is the Unix epoch. */
export type WallClock = { readonly nowMs: () => number };

/**
 * Runs an operation on behalf of another one, inside its transaction: the same checks, the same audit event.
 * `trial` leaves out the question whether the caller may; what a trial does must be rolled back.
 */
export type Perform = <C extends OperationContract>(
  at: { readonly call: Call; readonly tx: Executor; readonly authority: "caller" | "trial" },
  contract: C,
  input: z.input<C["input"]>,
) => Promise<Result<z.output<C["output"]>, Failure>>;

/** What use cases work with. */
export type FeatureDeps = {
  readonly database: Pick<Database, "db" | "isAlive">;
  readonly clock: WallClock;
  readonly random: RandomBytes;
  readonly live: LiveState;
  readonly jobs: JobDesk;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly cursors: Cursors;
  readonly vault: Vault;
  readonly oidc: OidcClient;
  readonly installer: AgentInstaller;
  readonly webhooks: Webhooks;
  readonly backups: BackupSide;
  readonly updates: UpdateNotices;
  readonly server: ServerFacts;
  readonly perform: Perform;
  /** A failure as a sentence for people. */
  readonly explain: (failure: Failure) => string;
  /** Tells the clockwork that a peer's expiry may have changed. */
  readonly noteExpiry: () => void;
};

/** What the webhook side offers to use cases. */
type Webhooks = {
  readonly secretOf: (webhook: { readonly id: string; readonly secretVersion: number }) => string;
  /** Why a URL cannot be a webhook's. */
  readonly targetFault: (url: string) => string | undefined;
  /** Tries one delivery now and waits for the outcome. */
  readonly attempt: (deliveryId: string) => Promise<void>;
};

/** What does not change while the server runs. */
type ServerFacts = {
  readonly version: string;
  readonly startedAt: Date;
  readonly key: ServerKey;
  readonly databaseKind: "embedded" | "external";
  readonly publicUrl: string | undefined;
  /** An address of this machine that other hosts may reach the server at; read anew each time. */
  readonly reachableHost: () => string | undefined;
  /** What a caller that is not on this machine must show to create the owner. */
  readonly setupToken: string;
  /** Makes the first account without a browser, once. */
  readonly bootstrapToken: string | undefined;
};

/** What a feed of releases says about this server. */
export type UpdateNotice = {
  /** off: no feed is set; unknown: it was not asked yet, or never answered well. */
  readonly state: "off" | "unknown" | "current" | "available";
  readonly release: {
    readonly version: string;
    readonly url: string;
    readonly severity: "normal" | "security";
    readonly summary: string;
  } | null;
  /** RFC 3339. */
  readonly checkedAt: string | null;
  /** Why the feed said nothing the last time. */
  readonly failure: string | null;
};

export type UpdateNotices = { readonly notice: () => UpdateNotice };
