/** Tells whether a text may be the name of a peer: one DNS label, lower case. */
export function isPeerName(text: unknown): text is string {
  return typeof text === "string" && LABEL.test(text);
}

/** Makes a name out of a host name: lower case, wrong characters become dashes; `node` when nothing is left. */
export function peerNameFrom(hostname: string): string {
  const [first = ""] = hostname.normalize("NFKD").split(".");
  const label = first
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, NAME_LENGTH_MAX)
    .replace(/^-+|-+$/g, "");
  return label === "" ? "node" : label;
}

/** Tells whether a text is a domain name as maps have it: lower case, no dot at the end, at most 200 characters. */
export function isDomainName(text: unknown): text is string {
  return typeof text === "string" && text.length <= DOMAIN_LENGTH_MAX && text.split(".").every(isPeerName);
}

/** Tells whether a text names a record below the domain of a network; "@" is the domain itself. */
export function isRecordName(text: unknown): text is string {
  return text === "@" || isDomainName(text);
}

/** Tells whether a text may be shown as a title: 1 to 64 characters, no control characters, no space at the ends. */
export function isTitle(text: unknown): text is string {
  return (
    typeof text === "string" && text.length >= 1 && text.length <= 64 && text.trim() === text && !CONTROL.test(text)
  );
}

/** Tells whether free text from the other side is short and printable. */
export function isPlainText(text: string, lengthMax: number): boolean {
  return text.length <= lengthMax && !CONTROL.test(text);
}

/** Makes free text fit `isPlainText`: control characters become spaces, what is too long is cut. */
export function toPlainText(text: string, lengthMax: number): string {
  return text.replace(CONTROLS, " ").slice(0, lengthMax);
}

/** Characters of a DNS label. */
export const NAME_LENGTH_MAX = 63;
/** Characters of a domain name; leaves room for a name before it inside the 253 of DNS. */
export const DOMAIN_LENGTH_MAX = 200;

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const CONTROLS = new RegExp(CONTROL, "g");
