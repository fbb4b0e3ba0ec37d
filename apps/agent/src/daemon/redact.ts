/** Changes every string of plain data, values by `change`, names of fields by `changeName`. */
export function mapStrings<T>(
  value: T,
  { change, changeName }: { readonly change: (text: string) => string; readonly changeName: (text: string) => string },
): T {
  const walk = (inner: unknown): unknown => {
    if (typeof inner === "string") return change(inner);
    if (Array.isArray(inner)) return inner.map(walk);
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([name, content]) => [changeName(name), walk(content)]));
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- strings become strings, nothing else changes
  return walk(value) as T;
}

/**
 * Replaces everything that looks like a key, token or password, wherever it stands. `publicKeys` are known to be public and
 * stay: by its form alone a private key cannot be told from a public one.
 */
export function withoutSecrets(text: string, publicKeys: ReadonlySet<string>): string {
  return text
    .replaceAll(PEM, "[key]")
    .replaceAll(TOKEN, "[token]")
    .replaceAll(AUTHORIZATION, "$1 [token]")
    .replaceAll(LOGIN_IN_URL, "$1[password]@")
    .replaceAll(NAMED_SECRET, "$1[secret]")
    .replaceAll(KEY_IN_BASE64, (key) => (publicKeys.has(key) ? key : "[key]"))
    .replaceAll(KEY_IN_HEX, "[key]");
}

/** Replaces addresses, endpoints, prefixes. */
export function withoutAddresses(text: string): string {
  return text.replaceAll(ADDRESS, "[address]");
}

/** A pattern of whole names, however they are written; `null` when there is none. */
export function patternOfNames(names: readonly string[]): RegExp | null {
  const known = [...new Set(names)].filter((name) => name.length > 1);
  if (known.length === 0) return null;
  const longestFirst = known.toSorted((left, right) => right.length - left.length);
  const words = longestFirst.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  return new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${words.join("|")})(?![\p{L}\p{N}])`, "giu");
}

const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const TOKEN = /weft_[a-z]{3}_[A-Za-z0-9]+(\.[A-Za-z0-9_-]+)?/g;
const AUTHORIZATION = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi;
const LOGIN_IN_URL = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"\\]+@/gi;
/** `password=…`, `"secret": "…"`, also inside text that is JSON itself. */
const NAMED_SECRET =
  /((?:password|passwd|passphrase|secret|token|psk|pre-?_?shared-?_?key|private-?_?key|api-?_?key)\\*["']?\s*[:=]\s*\\*["']?)(?!\[)[^\s"'\\,}\]]+/gi;
const KEY_IN_BASE64 = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=/g;
const KEY_IN_HEX = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gi;
/** IPv4, and IPv6 with at least two colons, each with what may follow in an endpoint or prefix. */
const ADDRESS =
  /\b\d{1,3}(\.\d{1,3}){3}(:\d+|\/\d+)?\b|\[?(?<![\w:])([0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])\]?(:\d+|\/\d+)?/gi;
