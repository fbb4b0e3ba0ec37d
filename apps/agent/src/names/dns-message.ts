import { decode, encode, TRUNCATED_RESPONSE, type Answer, type Packet } from "dns-packet";

/** A question as it came, with what its asker can take. */
export type DnsQuery = {
  readonly id: number;
  /** Lower case, without the dot at its end. */
  readonly name: string;
  /** "A", "AAAA", …; other numbers as "UNKNOWN_n". */
  readonly type: string;
  /** Bytes that an answer over UDP may have. */
  readonly udpBytesMax: number;
  readonly hasEdns: boolean;
  /** Everything that makes two queries want different answers, beside id and upper case. */
  readonly key: string;
  /** The whole message. */
  readonly bytes: Buffer;
  /** Where the question ends. */
  readonly questionEnd: number;
};

/** A message that is no question we answer: with a code that is to be told, or not even that. */
export type NoQuery = { readonly kind: "silence" } | { readonly kind: "refusal"; readonly answer: Buffer };

export type Rcode = "NOERROR" | "FORMERR" | "SERVFAIL" | "NXDOMAIN" | "NOTIMP" | "REFUSED";

/** Reads a message of an asker. */
export function readQuery(
  bytes: Buffer,
): { readonly ok: true; readonly query: DnsQuery } | { readonly ok: false; readonly no: NoQuery } {
  const no = (code: Rcode): { readonly ok: false; readonly no: NoQuery } => ({
    ok: false,
    no: { kind: "refusal", answer: headerOnly(bytes, code) },
  });
  // Too short for a header, or an answer: whoever answers answers can be made to talk to himself.
  if (bytes.length < HEADER_BYTES || ((bytes[2] ?? 0) & 0x80) !== 0) return { ok: false, no: { kind: "silence" } };
  if (((bytes[2] ?? 0) & 0x78) !== 0) return no("NOTIMP");
  const packet = safely(() => decode(bytes));
  const [question] = packet?.questions ?? [];
  if (!packet || !question || packet.questions?.length !== 1) return no("FORMERR");
  if (question.class !== undefined && question.class !== "IN") return no("REFUSED");
  const questionEnd = endOfName(bytes, HEADER_BYTES) + 4;
  const edns = packet.additionals?.find(isEdns);
  const name = question.name.toLowerCase().replace(/\.$/, "");
  const flags = (bytes[3] ?? 0) & 0x10;
  return {
    ok: true,
    query: {
      id: bytes.readUInt16BE(0),
      name,
      type: question.type,
      udpBytesMax: edns ? Math.min(Math.max(edns.udpPayloadSize, UDP_BYTES_MIN), UDP_BYTES_MAX) : UDP_BYTES_MIN,
      hasEdns: edns !== undefined,
      key: [name, question.type, flags, edns ? `${edns.udpPayloadSize > 0}${edns.flag_do}` : "none"].join("|"),
      bytes,
      questionEnd,
    },
  };
}

export type Reply = {
  readonly rcode: Rcode;
  readonly answers: readonly Answer[];
  readonly authorities?: readonly Answer[];
};

/** Makes an answer of our own to a question. */
export function makeReply(query: DnsQuery, reply: Reply): Buffer {
  const asked = safely(() => decode(query.bytes));
  const packet: Packet = {
    type: "response",
    id: query.id,
    flags: 0x480 | (query.bytes.readUInt16BE(2) & 0x110) | RCODES[reply.rcode],
    questions: asked?.questions ?? [],
    answers: [...reply.answers],
    authorities: [...(reply.authorities ?? [])],
    additionals: query.hasEdns ? [OWN_EDNS] : [],
  };
  return encode(packet);
}

/** An answer that fits into a datagram: what is too long says so, and is asked for over TCP. */
export function fitDatagram(answer: Buffer, query: DnsQuery): Buffer {
  if (answer.length <= query.udpBytesMax) return answer;
  const short = Buffer.from(query.bytes.subarray(0, query.questionEnd));
  short.writeUInt16BE((answer.readUInt16BE(2) | TRUNCATED_RESPONSE | 0x8000) & ~0, 2);
  short.writeUInt16BE(1, 4);
  short.fill(0, 6, HEADER_BYTES);
  return short;
}

/** Code of an answer. */
export function rcodeOf(answer: Buffer): number {
  return (answer[3] ?? 0) & 0x0f;
}

export function isTruncated(answer: Buffer): boolean {
  return ((answer[2] ?? 0) & 0x02) !== 0;
}

/** True when `answer` answers just this question, under this id. */
export function answersQuestion(answer: Buffer, query: DnsQuery, id: number): boolean {
  if (answer.length < query.questionEnd || answer.readUInt16BE(0) !== id) return false;
  if (((answer[2] ?? 0) & 0x80) === 0 || answer.readUInt16BE(4) !== 1) return false;
  const [left, right] = [answer, query.bytes].map((message) =>
    message.subarray(HEADER_BYTES, query.questionEnd).toString("latin1").toLowerCase(),
  );
  return left === right;
}

/** Places of the lifetimes of all records, the pseudo record of EDNS left out; `null` for a broken message. */
export function ttlPlaces(message: Buffer): number[] | null {
  return safely(() => {
    const places: number[] = [];
    let at = HEADER_BYTES;
    for (let left = message.readUInt16BE(4); left > 0; left -= 1) at = endOfName(message, at) + 4;
    let records = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10);
    for (; records > 0; records -= 1) {
      at = endOfName(message, at);
      if (message.readUInt16BE(at) !== OPT) places.push(at + 4);
      at += 10 + message.readUInt16BE(at + 8);
    }
    return at <= message.length ? places : null;
  });
}

/** Runs a reader of foreign bytes; whatever it does not understand is `null`. */
export function safely<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function headerOnly(bytes: Buffer, code: Rcode): Buffer {
  const answer = Buffer.alloc(HEADER_BYTES);
  answer.writeUInt16BE(bytes.readUInt16BE(0), 0);
  answer.writeUInt16BE(0x8000 | (bytes.readUInt16BE(2) & 0x7900) | RCODES[code], 2);
  return answer;
}

/** Behind a name; a pointer ends it. */
function endOfName(message: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const length = message.readUInt8(at);
    if (length === 0) return at + 1;
    if ((length & 0xc0) === 0xc0) return at + 2;
    at += length + 1;
  }
}

type Edns = Extract<Answer, { type: "OPT" }>;

function isEdns(record: Answer): record is Edns {
  return record.type === "OPT";
}

export const RCODES: Readonly<Record<Rcode, number>> = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
};

const OPT = 41;
const HEADER_BYTES = 12;
/** Without EDNS an asker takes this much. */
const UDP_BYTES_MIN = 512;
const UDP_BYTES_MAX = 4_096;
const OWN_EDNS: Edns = {
  type: "OPT",
  name: ".",
  udpPayloadSize: 1_232,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};
