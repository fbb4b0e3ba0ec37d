/** A WireGuard key pair of a static client; base64. The private half never leaves this page but by the reader's own hand. */
export type ClientKeys = { readonly privateKey: string; readonly publicKey: string };

/** Makes a key pair with the browser's own cryptography; `null` where it has none, as on pages without TLS. */
export async function makeClientKeys(): Promise<ClientKeys | null> {
  // Browsers leave it out of pages that came without TLS.
  const subtle = (globalThis.crypto as Partial<Crypto> | undefined)?.subtle;
  if (!subtle) return null;
  try {
    const pair = await subtle.generateKey({ name: "X25519" }, true, ["deriveBits"]);
    if (!("privateKey" in pair)) return null;
    const { d, x } = await subtle.exportKey("jwk", pair.privateKey);
    const [privateKey, publicKey] = [d, x].map((part) => (part === undefined ? null : base64Of(part)));
    return privateKey && publicKey ? { privateKey, publicKey } : null;
  } catch {
    return null;
  }
}

/** Combines a key with random bytes, or takes them off again: exclusive or; both and the result in base64. */
export function combineKey(key: string, pad: string): string | null {
  const [left, right] = [bytesOf(key), bytesOf(pad)];
  if (left?.length !== 32 || right?.length !== 32) return null;
  return base64FromBytes(left.map((byte, place) => byte ^ (right[place] ?? 0)));
}

/** 32 random bytes, base64. */
export function makePad(): string {
  return base64FromBytes(crypto.getRandomValues(new Uint8Array(32)));
}

/** The configuration file of plain WireGuard. */
export function clientConfigText(
  config: {
    readonly addresses: readonly string[];
    readonly mtu: number;
    readonly gatewayPublicKey: string;
    readonly endpoints: readonly string[];
    readonly allowedIps: readonly string[];
    readonly keepaliveSeconds: number;
  },
  privateKey: string,
): string {
  const [endpoint] = config.endpoints;
  return [
    "[Interface]",
    `PrivateKey = ${privateKey}`,
    `Address = ${config.addresses.join(", ")}`,
    `MTU = ${config.mtu}`,
    "",
    "[Peer]",
    `PublicKey = ${config.gatewayPublicKey}`,
    `AllowedIPs = ${config.allowedIps.join(", ")}`,
    ...(endpoint === undefined ? [] : [`Endpoint = ${endpoint}`]),
    `PersistentKeepalive = ${config.keepaliveSeconds}`,
    "",
  ].join("\n");
}

/** JSON web keys are written in the base64 of addresses, without padding. */
function base64Of(base64Url: string): string | null {
  const bytes = bytesOf(base64Url.replaceAll("-", "+").replaceAll("_", "/"));
  return bytes && base64FromBytes(bytes);
}

function bytesOf(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function base64FromBytes(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
