import type { Brand } from "./brand.ts";
import { err, ok, type Result } from "./result.ts";
import { formatIpBytes, parseIpBytes, widthOf, type Family } from "./ip-text.ts";

export type { Family } from "./ip-text.ts";

/** IPv4 address, dotted decimal without leading zeros. */
export type Ipv4Address = Brand<string, "Ipv4Address">;
/** IPv6 address in the form of RFC 5952. */
export type Ipv6Address = Brand<string, "Ipv6Address">;
/** Either family, canonical text: two equal addresses are equal strings. */
export type IpAddress = Ipv4Address | Ipv6Address;
/** `address/length` with all host bits zero, canonical text. */
export type Prefix = Brand<string, "Prefix">;
/** `1.2.3.4:5` or `[2001:db8::1]:5`, canonical text, port 1 to 65,535. */
export type Endpoint = Brand<string, "Endpoint">;

/** Why a text is no address, prefix or endpoint. */
export type AddressError = { readonly code: "address"; readonly text: string; readonly detail: string };

/** Reads an address of either family; only the canonical value comes out, other spellings of IPv6 are accepted. */
export function parseIp(text: string): Result<IpAddress, AddressError> {
  const bytes = parseIpBytes(text);
  return bytes ? ok(brandIp(formatIpBytes(bytes))) : err(bad(text, "not an IP address"));
}

export function parseIpv4(text: string): Result<Ipv4Address, AddressError> {
  const parsed = parseIp(text);
  if (!parsed.ok) return parsed;
  return isIpv4(parsed.value) ? ok(parsed.value) : err(bad(text, "not an IPv4 address"));
}

export function parseIpv6(text: string): Result<Ipv6Address, AddressError> {
  const parsed = parseIp(text);
  if (!parsed.ok) return parsed;
  return isIpv6(parsed.value) ? ok(parsed.value) : err(bad(text, "not an IPv6 address"));
}

/** Reads `address/length`; host bits that are set are an error, not silently cleared. */
export function parsePrefix(text: string): Result<Prefix, AddressError> {
  const [addressText = "", lengthText = "", ...rest] = text.split("/");
  const address = parseIp(addressText);
  if (!address.ok || rest.length > 0 || !DECIMAL.test(lengthText)) return err(bad(text, "not address/length"));
  return prefixOf(address.value, Number(lengthText));
}

/** Reads `address:port` or `[address]:port`; a DNS name is an error. */
export function parseEndpoint(text: string): Result<Endpoint, AddressError> {
  const colon = text.lastIndexOf(":");
  const host = text.slice(0, Math.max(colon, 0));
  const port = text.slice(colon + 1);
  const bracketed = host.startsWith("[") && host.endsWith("]");
  const address = parseIp(bracketed ? host.slice(1, -1) : host);
  if (!address.ok || !DECIMAL.test(port)) return err(bad(text, "not address:port"));
  if (bracketed !== isIpv6(address.value)) return err(bad(text, "IPv6 is written in brackets, IPv4 is not"));
  return endpointOf(address.value, Number(port));
}

/** Puts an address and a port together. */
export function endpointOf(address: IpAddress, port: number): Result<Endpoint, AddressError> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    return err(bad(`${address} ${port}`, "port outside 1 to 65535"));
  return ok(brandEndpoint(isIpv6(address) ? `[${address}]:${port}` : `${address}:${port}`));
}

/** Takes an endpoint apart. */
export function endpointParts(endpoint: Endpoint): { readonly address: IpAddress; readonly port: number } {
  const colon = endpoint.lastIndexOf(":");
  const host = endpoint.slice(0, colon).replace(/^\[|\]$/g, "");
  return { address: brandIp(host), port: Number(endpoint.slice(colon + 1)) };
}

/** Makes a prefix from numbers; host bits must be zero. */
export function prefixFrom(family: Family, value: bigint, length: number): Result<Prefix, AddressError> {
  return prefixOf(ipFrom(family, value), length);
}

/** Makes a prefix from its first address; host bits must be zero. */
export function prefixOf(address: IpAddress, length: number): Result<Prefix, AddressError> {
  const width = widthOf(familyOf(address));
  const text = `${address}/${length}`;
  if (!Number.isInteger(length) || length < 0 || length > width) return err(bad(text, `length outside 0 to ${width}`));
  if (length < width && !hostBitsAreZero(ipToBytes(address), length))
    return err(bad(text, "bits behind the prefix length are set"));
  return ok(brandPrefix(text));
}

/** The prefix that holds one address only. */
export function hostPrefix(address: IpAddress): Prefix {
  return brandPrefix(`${address}/${widthOf(familyOf(address))}`);
}

/** Takes a prefix apart. */
export function prefixParts(prefix: Prefix): {
  readonly family: Family;
  readonly value: bigint;
  readonly length: number;
  readonly address: IpAddress;
} {
  const slash = prefix.indexOf("/");
  const address = brandIp(prefix.slice(0, slash));
  return { family: familyOf(address), value: ipToNumber(address), length: Number(prefix.slice(slash + 1)), address };
}

export function familyOf(text: IpAddress | Prefix): Family {
  return text.includes(":") ? 6 : 4;
}

export function isIpv4(address: IpAddress): address is Ipv4Address {
  return familyOf(address) === 4;
}

export function isIpv6(address: IpAddress): address is Ipv6Address {
  return familyOf(address) === 6;
}

/** The address as a number; the family says how wide it is. */
export function ipToNumber(address: IpAddress): bigint {
  let value = 0n;
  for (const byte of ipToBytes(address)) value = (value << 8n) | BigInt(byte);
  return value;
}

/** The address with this number; the number must fit the family. */
export function ipFrom(family: Family, value: bigint): IpAddress {
  const width = widthOf(family);
  if (BigInt.asUintN(width, value) !== value) throw new Error(`${value} does not fit an IPv${family} address`);
  const bytes = new Uint8Array(width / 8);
  let rest = value;
  for (let index = bytes.length - 1; index >= 0; index -= 1) {
    bytes[index] = Number(rest & 255n);
    rest >>= 8n;
  }
  return brandIp(formatIpBytes(bytes));
}

/** 4 or 16 bytes in network order. */
export function ipToBytes(address: IpAddress): Uint8Array {
  const bytes = parseIpBytes(address);
  if (!bytes) throw new Error("a branded address is canonical text");
  return bytes;
}

/** Reads 4 or 16 bytes in network order. */
export function ipFromBytes(bytes: Uint8Array): Result<IpAddress, AddressError> {
  if (bytes.length !== 4 && bytes.length !== 16)
    return err(bad(`${bytes.length} bytes`, "an address has 4 or 16 bytes"));
  return ok(brandIp(formatIpBytes(bytes)));
}

function hostBitsAreZero(bytes: Uint8Array, length: number): boolean {
  return bytes.every((byte, index) => {
    const fixedBits = Math.min(8, Math.max(0, length - 8 * index));
    return (byte & (255 >> fixedBits)) === 0;
  });
}

function bad(text: string, detail: string): AddressError {
  return { code: "address", text: text.slice(0, 80), detail };
}

// The three places where checked text becomes its brand.
function brandIp(text: string): IpAddress {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only checked text reaches this line
  return text as IpAddress;
}
function brandPrefix(text: string): Prefix {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only checked text reaches this line
  return text as Prefix;
}
function brandEndpoint(text: string): Endpoint {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only checked text reaches this line
  return text as Endpoint;
}

const DECIMAL = /^(0|[1-9][0-9]{0,4})$/;
