import type { FastifyInstance } from "fastify";
import { addressGroup } from "../domain/address-group.ts";
import { createTokenBuckets } from "../domain/token-bucket.ts";
import type { BucketOptions } from "../domain/token-bucket.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import { hashSecret } from "../registry/secrets.ts";
import { addressOf, pathOf } from "./client-facts.ts";
import { COOKIE_NAME } from "./call-plugin.ts";
import { sendFailure } from "./error-plugin.ts";

/** Limits API calls per address, and per credential where one is shown; before anything is read from the database. */
export function registerRateLimit(app: FastifyInstance, options: BucketOptions & { readonly clock: WallClock }): void {
  const byCredential = createTokenBuckets(options);
  const byAddress = createTokenBuckets({ perSecond: options.perSecond * 4, burst: options.burst * 4 });
  app.addHook("onRequest", async (request, reply) => {
    if (!/^\/(api|trpc)\//.test(pathOf(request))) return undefined;
    const nowMs = options.clock.nowMs();
    const credential = request.headers.authorization ?? request.cookies[COOKIE_NAME];
    const address = addressGroup(addressOf(request));
    const taken = [
      byAddress.take(address, nowMs),
      byCredential.take(credential === undefined ? `address ${address}` : hashSecret(credential), nowMs),
    ].find(({ ok }) => !ok);
    if (!taken || taken.ok) return undefined;
    return sendFailure(request, reply, { code: "rate_limited", retryAfterSeconds: taken.retryAfterSeconds });
  });
}
