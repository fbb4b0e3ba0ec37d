// A minimal encoder of engine commands: what the example and the tests need.
const families = { none: 0, ipv4: 4, ipv6: 6 };

export function batch(...records) {
  return new Uint8Array(Buffer.concat(records));
}

export function addPeer(peer, keepaliveSeconds = 0) {
  return record(1, u32(peer), u16(keepaliveSeconds), u16(0));
}

export function removePeer(peer) {
  return record(2, u32(peer));
}

export function setAllowedIps(peer, cidrs) {
  const prefixes = cidrs.map((cidr) => {
    const [address, bits] = cidr.split("/");
    const [family, bytes] = addressBytes(address);
    return Buffer.concat([Buffer.from([family, Number(bits)]), u16(0), bytes]);
  });
  return record(3, u32(peer), u32(prefixes.length), ...prefixes);
}

export function setEndpoint(peer, address, port) {
  return record(4, u32(peer), endpoint(address, port));
}

export function installSession(session) {
  const { peer, localIndex, remoteIndex, role, sendKey, receiveKey, ageMs = 0 } = session;
  const { cipher = "chacha20-poly1305", elision = "off" } = session;
  const roles = { initiator: 0, responder: 1 };
  const ciphers = { "chacha20-poly1305": 0, "aes-256-gcm": 1 };
  return record(
    6,
    u32(peer),
    u32(localIndex),
    u32(remoteIndex),
    Buffer.from([roles[role], ciphers[cipher], elision === "on" ? 1 : 0, 0]),
    u32(ageMs),
    sendKey,
    receiveKey,
  );
}

export function retireSession(localIndex) {
  return record(7, u32(localIndex));
}

/** One rule that lets everything pass. */
export function allowAll() {
  const rule = Buffer.alloc(24);
  rule[0] = 1;
  rule[4] = 1;
  rule[5] = 3;
  rule.fill(0xff, 8, 16);
  return record(11, u32(2), u32(0), u32(1), rule);
}

function endpoint(address, port) {
  const [family, bytes] = addressBytes(address);
  return Buffer.concat([Buffer.from([family, 0]), u16(port), bytes]);
}

function addressBytes(address) {
  const bytes = Buffer.alloc(16);
  if (address.includes(":")) {
    const [head = "", tail = ""] = address.split("::");
    const groups = (text) => (text === "" ? [] : text.split(":"));
    const middle = 8 - groups(head).length - groups(tail).length;
    const all = [...groups(head), ...Array(address.includes("::") ? middle : 0).fill("0"), ...groups(tail)];
    all.forEach((group, at) => bytes.writeUInt16BE(Number.parseInt(group, 16), at * 2));
    return [families.ipv6, bytes];
  }
  address.split(".").forEach((part, at) => {
    bytes[at] = Number(part);
  });
  return [families.ipv4, bytes];
}

function record(kind, ...parts) {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([kind, 0, 0, 0]), u32(body.length), body]);
}

function u16(value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
