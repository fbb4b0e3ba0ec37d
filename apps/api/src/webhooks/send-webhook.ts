import { lookup } from "node:dns/promises";
import { request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { isIP } from "node:net";
import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { isPublicAddress } from "../domain/public-address.ts";

/** Whether webhooks may reach addresses that are not public, such as this machine and its neighbours. */
export type PrivateTargets = "refuse" | "allow";
export type Resolve = (host: string) => Promise<readonly string[]>;

export type WebhookRequest = {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};
export type SendOptions = {
  readonly privateTargets: PrivateTargets;
  readonly timeoutMs: number;
  readonly resolve?: Resolve;
};

/** Why a URL cannot be a webhook's; `undefined` for a good one. What a name leads to is looked at each time it is used. */
export function targetFault(text: string, privateTargets: PrivateTargets): string | undefined {
  if (!URL.canParse(text)) return "it is no URL";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "it must begin with https:// or http://";
  if (url.username !== "" || url.password !== "")
    return "a login does not belong into a URL; use a path that only you know";
  if (url.hash !== "") return "what follows # is never sent";
  const host = bareHost(url);
  const isLocalName = host === "localhost" || host.endsWith(".localhost");
  const isPrivate = isLocalName || (isIP(host) !== 0 && !isPublicAddress(host));
  return isPrivate && privateTargets === "refuse" ? PRIVATE : undefined;
}

/**
 * Sends one POST and says what was answered. The name is resolved here, the address is checked, and the connection goes to
 * that very address: what the name leads to a moment later does not matter. Redirects are answers, never followed.
 */
export async function sendWebhook(
  wish: WebhookRequest,
  options: SendOptions,
): Promise<Result<{ readonly status: number }, string>> {
  const fault = targetFault(wish.url, options.privateTargets);
  if (fault !== undefined) return err(fault);
  const url = new URL(wish.url);
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const address = await pinnedAddress(bareHost(url), options, deadline);
  return address.ok ? post({ url, address: address.value, wish, deadline }) : address;
}

async function pinnedAddress(
  host: string,
  { privateTargets, resolve = resolveAll }: SendOptions,
  deadline: AbortSignal,
): Promise<Result<string, string>> {
  if (isIP(host) !== 0) return ok(host);
  const late = new Promise<readonly string[]>((_done, fail) => {
    deadline.addEventListener("abort", () => fail(new Error("the name server did not answer in time")), { once: true });
  });
  const addresses = await Promise.race([resolve(host), late]).catch((error: unknown) => describe(error));
  if (typeof addresses === "string") return err(addresses);
  const usable = privateTargets === "allow" ? addresses : addresses.filter(isPublicAddress);
  const [first] = usable;
  if (first !== undefined) return ok(first);
  return err(addresses.length === 0 ? "the name has no address" : PRIVATE);
}

function post(from: {
  readonly url: URL;
  readonly address: string;
  readonly wish: WebhookRequest;
  readonly deadline: AbortSignal;
}): Promise<Result<{ readonly status: number }, string>> {
  const { url, address, wish, deadline } = from;
  const isTls = url.protocol === "https:";
  const host = bareHost(url);
  const body = Buffer.from(wish.body);
  return new Promise((settle) => {
    const sent = (isTls ? requestTls : requestPlain)({
      host: address,
      port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
      method: "POST",
      path: url.pathname + url.search,
      headers: { ...wish.headers, host: url.host, "content-length": String(body.length) },
      // The certificate must be for the name that was asked for, not for the address.
      ...(isTls && { servername: isIP(host) === 0 ? host : "" }),
      agent: false,
      signal: deadline,
    });
    sent.once("response", (response) => {
      settle(ok({ status: response.statusCode ?? 0 }));
      // Nobody reads the body; a long one must not keep the connection.
      response.destroy();
    });
    sent.once("error", (error) => settle(err(deadline.aborted ? "no answer in time" : describe(error))));
    sent.end(body);
  });
}

async function resolveAll(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}

/** Host of a URL without the brackets of IPv6. */
function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function describe(error: unknown): string {
  const code = error instanceof Error && "code" in error ? `${String(error.code)}: ` : "";
  return `${code}${error instanceof Error ? error.message : String(error)}`.slice(0, 300);
}

const PRIVATE =
  "it leads to an address that is not public; set WEFT_WEBHOOK_PRIVATE_TARGETS=allow on the server when that is meant";
