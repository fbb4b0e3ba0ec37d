import type { FastifyInstance } from "fastify";
import type { FeatureDeps } from "../registry/feature-deps.ts";
import { sendFailure } from "./error-plugin.ts";

/**
 * Whether the server works, for watchdogs and balancers. Anybody may ask, so the database is asked at most once a second,
 * however many do; all of them get that answer.
 */
export function registerHealth(
  app: FastifyInstance,
  { database, clock }: Pick<FeatureDeps, "database" | "clock">,
): void {
  let latest = { isAlive: Promise.resolve(true), askedAtMs: Number.NEGATIVE_INFINITY };
  app.get("/healthz", async (request, reply) => {
    const nowMs = clock.nowMs();
    if (nowMs - latest.askedAtMs >= ANSWER_LIFETIME_MS || nowMs < latest.askedAtMs) {
      latest = { isAlive: database.isAlive(), askedAtMs: nowMs };
    }
    if (await latest.isAlive) return { status: "ok" };
    return sendFailure(request, reply, { code: "stopping" });
  });
}

const ANSWER_LIFETIME_MS = 1_000;
