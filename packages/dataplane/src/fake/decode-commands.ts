import { PLAIN_CONCEAL, Secret } from "@weft/protocol";
import {
  ANY_ADDRESS,
  ENDPOINT_BYTES,
  type EngineCommand,
  FILTER_VERSION,
  NO_SLOT,
  PREFIX_BYTES,
  RECORD_HEADER_BYTES,
  type WireEndpoint,
  type WirePrefix,
  type WireRule,
} from "../core/engine-port.ts";
import type { WireDisguise } from "../core/encode-conceal.ts";
import { viewOf } from "../core/handshake/bytes.ts";

/** Reads a batch of command records as the engine does: anything out of place refuses the whole batch by throwing. */
export function decodeCommands(batch: Uint8Array): readonly EngineCommand[] {
  const commands: EngineCommand[] = [];
  for (let offset = 0; offset < batch.length;) {
    const header = viewOf(batch.subarray(offset, offset + RECORD_HEADER_BYTES));
    const bodyAt = offset + RECORD_HEADER_BYTES;
    const bodyBytes = header.getUint32(4, true);
    if (header.getUint8(1) !== 0 || header.getUint16(2, true) !== 0) throw new Error(`reserved bytes set at ${offset}`);
    if (bodyAt + bodyBytes > batch.length) throw new Error(`record cut short at ${offset}`);
    commands.push(decodeCommand(header.getUint8(0), new Reader(batch.slice(bodyAt, bodyAt + bodyBytes))));
    offset = bodyAt + bodyBytes;
  }
  return commands;
}

function decodeCommand(kind: number, body: Reader): EngineCommand {
  const command = decodeBody(kind, body);
  body.end();
  return command;
}

function decodeBody(kind: number, body: Reader): EngineCommand {
  switch (kind) {
    case 1:
      return { kind: "add-peer", slot: body.u32(), keepaliveSeconds: body.u16(), ...body.zero(2) };
    case 2:
      return { kind: "remove-peer", slot: body.u32() };
    case 3: {
      const slot = body.u32();
      const count = body.u32();
      return { kind: "set-allowed-ips", slot, prefixes: Array.from({ length: count }, () => body.prefix()) };
    }
    case 4:
      return { kind: "set-endpoint", slot: body.u32(), endpoint: body.endpoint() };
    case 5:
      return { kind: "set-keepalive", slot: body.u32(), keepaliveSeconds: body.u16(), ...body.zero(2) };
    case 6:
      return decodeSession(body);
    case 7:
      return { kind: "retire-session", localIndex: body.u32() };
    case 8: {
      const slot = body.u32();
      return {
        kind: "send-handshake",
        slot: slot === NO_SLOT ? null : slot,
        endpoint: body.endpoint(),
        message: body.rest(),
      };
    }
    case 9:
      return { kind: "handshake-gave-up", slot: body.u32() };
    case 10:
      return { kind: "set-cookie-secrets", current: body.bytes(32), previous: body.bytes(32) };
    case 11: {
      if (body.u32() !== FILTER_VERSION) throw new Error("unknown filter version");
      const [setCount, ruleCount] = [body.u32(), body.u32()];
      const sets = Array.from({ length: setCount }, () => Array.from({ length: body.u32() }, () => body.prefix()));
      return { kind: "set-filter", sets, rules: Array.from({ length: ruleCount }, () => body.rule()) };
    }
    case 14:
      return { kind: "set-mtu", mtu: body.u32() };
    case 15: {
      const [slot, payload] = [body.u32(), body.u32()];
      const probes = body.u8() === 1 ? "answered" : "ignored";
      const bound = body.u8() === 1 ? "proven" : "believed";
      return { kind: "set-path-mtu", slot, payload: payload === 0 ? null : payload, probes, bound, ...body.zero(2) };
    }
    case 16:
      return { kind: "send-probe", slot: body.u32(), size: body.u32(), id: body.u32() };
    case 70: {
      const span = () => ({ low: body.u32(), high: body.u32() });
      return { kind: "set-silence", silence: { keepaliveMs: span(), noAnswerMs: span() } };
    }
    case 17:
      return { kind: "set-conceal", disguise: body.isEmpty() ? null : decodeDisguise(body) };
    default:
      throw new Error(`unknown command ${kind}`);
  }
}

function decodeDisguise(body: Reader): WireDisguise {
  if (body.u32() !== 1) throw new Error("unknown version of a profile");
  const flags = body.u32();
  const [jc, jmin, jmax] = [body.u16(), body.u16(), body.u16()];
  body.zero(2);
  const [s1, s2, s3, s4] = [body.u16(), body.u16(), body.u16(), body.u16()];
  const range = () => ({ low: body.u32(), high: body.u32() });
  const [h1, h2, h3, h4] = [range(), range(), range(), range()];
  const contentPaddingAddition = { low: body.u16(), high: body.u16() };
  const key = body.bytes(32);
  const seed = body.bytes(32);
  const text = () => new TextDecoder().decode(body.bytes(body.u16()));
  const profile = {
    ...PLAIN_CONCEAL,
    jc,
    jmin,
    jmax,
    s1,
    s2,
    s3,
    s4,
    h1,
    h2,
    h3,
    h4,
    i1: text(),
    i2: text(),
    i3: text(),
    i4: text(),
    i5: text(),
    contentPaddingAddition,
    headerProtectionKey: key.every((byte) => byte === 0) ? null : new Secret(key),
    randomTrailers: (flags & 1) === 0 ? ("off" as const) : ("on" as const),
    disableCookies: (flags & 2) === 0 ? ("off" as const) : ("on" as const),
  };
  return { profile, seed };
}

function decodeSession(body: Reader): EngineCommand {
  const slot = body.u32();
  const [localIndex, remoteIndex] = [body.u32(), body.u32()];
  const role = body.u8() === 0 ? "initiator" : "responder";
  const cipher = (["chacha20-poly1305", "aes-256-gcm"] as const)[body.u8()];
  const flags = body.u8();
  const lanes = body.u8() || 1;
  const elision = (["off", "on", null, "receive-only"] as const)[flags & ~EXTENSIONS_FLAG];
  const extensions = flags & EXTENSIONS_FLAG ? "agreed" : "none";
  if (!cipher || !elision) throw new Error("unknown cipher or flags");
  const ageMs = body.u32();
  const keys = { role, localIndex, remoteIndex, sendKey: body.bytes(32), receiveKey: body.bytes(32) } as const;
  const ageing = body.isEmpty()
    ? null
    : { rekeyOnSendMs: body.u32(), rekeyOnReceiveMs: body.u32(), rejectAfterMs: body.u32() };
  return { kind: "install-session", slot, keys, ageMs, cipher, elision, extensions, lanes, ageing };
}

/** Flag of install-session. */
const EXTENSIONS_FLAG = 4;

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  u8(): number {
    return this.#view.getUint8(this.#skip(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#skip(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#skip(4), true);
  }

  bytes(count: number): Uint8Array {
    const at = this.#skip(count);
    if (at + count > this.#bytes.length) throw new Error("body too short");
    return this.#bytes.slice(at, at + count);
  }

  rest(): Uint8Array {
    return this.bytes(this.#bytes.length - this.#at);
  }

  zero(count: number): object {
    if (this.bytes(count).some((byte) => byte !== 0)) throw new Error("reserved bytes set");
    return {};
  }

  endpoint(): WireEndpoint | null {
    const family = this.u8();
    this.zero(1);
    const port = this.u16();
    const address = this.bytes(ENDPOINT_BYTES - 4);
    if (family === 0) return null;
    return { address: family === 4 ? address.slice(0, 4) : address, port };
  }

  prefix(): WirePrefix {
    const family = this.u8();
    const length = this.u8();
    this.zero(2);
    const address = this.bytes(PREFIX_BYTES - 4);
    return { address: family === 4 ? address.slice(0, 4) : address, length };
  }

  rule(): WireRule {
    const id = this.u32();
    const action = this.u8() === 1 ? "allow" : "deny";
    const direction = (["in", "out", "both"] as const)[this.u8() - 1];
    if (!direction) throw new Error("unknown direction");
    const protocol = this.u16();
    const [source, destination] = [this.#set(), this.#set()];
    const [flags, type, code] = [this.u8(), this.u8(), this.u8()];
    this.zero(1);
    const rangeCount = this.u16();
    this.zero(2);
    return {
      id,
      action,
      direction,
      protocol: protocol === 0 ? null : protocol - 1,
      source,
      destination,
      ports: Array.from({ length: rangeCount }, () => ({ low: this.u16(), high: this.u16() })),
      icmp: (flags & 2) === 0 ? null : { type, code: (flags & 4) === 0 ? null : code },
      replies: (flags & 1) === 0 ? "pass" : "judged",
    };
  }

  isEmpty(): boolean {
    return this.#at === this.#bytes.length;
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new Error(`${this.#bytes.length - this.#at} bytes too many`);
  }

  #set(): number | null {
    const place = this.u32();
    return place === ANY_ADDRESS ? null : place;
  }

  #skip(count: number): number {
    const at = this.#at;
    this.#at += count;
    return at;
  }
}
