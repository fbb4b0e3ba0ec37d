import { err, ok, type Result } from "../result.ts";
import { DATAGRAM_BYTES_MAX } from "./profile.ts";

/** A value of `i1`…`i5` that was understood. */
export type ConcealTags = {
  /** Bytes of every packet made from it; 0 = nothing is sent. */
  readonly bytes: number;
  /** The same in the form that every implementation reads; empty = the slot is clear. */
  readonly portable: string;
};

/** Reads a value of the tag grammar; text outside of tags is ignored. All that is wrong with it is reported together. */
export function parseConcealTags(text: string): Result<ConcealTags, readonly string[]> {
  const problems: string[] = [];
  let bytes = 0;
  let portable = "";
  let rest = text;
  for (let open = rest.indexOf("<"); open >= 0; open = rest.indexOf("<")) {
    const close = rest.indexOf(">", open);
    if (close < 0) {
      problems.push(`the < at position ${text.length - rest.length + open} is never closed by >`);
      break;
    }
    const part = parseTag(rest.slice(open + 1, close));
    if (typeof part === "string") problems.push(part);
    else {
      bytes += part.bytes;
      portable += part.bytes === 0 ? "" : part.portable;
    }
    rest = rest.slice(close + 1);
  }
  if (bytes > DATAGRAM_BYTES_MAX) {
    problems.push(`${bytes} bytes in all; one datagram carries at most ${DATAGRAM_BYTES_MAX}`);
  }
  return problems.length > 0 ? err(problems) : ok({ bytes, portable });
}

/** What stands between the brackets, or what is wrong with it. */
function parseTag(content: string): ConcealTags | string {
  const [tag = "", argument] = content.split(/[\t\n\f\r ]+/).filter((word) => word !== "");
  switch (tag) {
    case "":
      return "<> holds no tag";
    case "b":
      return parseBytes(argument);
    case "r":
    case "rd":
    case "rc":
      return parseCount(tag, argument, (count) => ({ bytes: count, portable: `<${tag} ${count}>` }));
    case "t":
      return { bytes: 4, portable: "<t>" };
    case "d":
    case "ds":
      return { bytes: 0, portable: "" };
    case "dz":
      return parseCount(tag, argument, (count) => ({ bytes: count, portable: `<b 0x${"00".repeat(count)}>` }));
    case "c":
    case "wt":
      return `<${tag}> belongs to other versions and is not supported`;
    default:
      return `<${tag}> is no tag: use b, r, rd, rc, t, d, ds or dz`;
  }
}

function parseBytes(argument: string | undefined): ConcealTags | string {
  if (argument === undefined) return "<b> needs an argument";
  const digits = argument.startsWith("0x") ? argument.slice(2) : argument;
  if (!/^(?:[0-9a-fA-F]{2})+$/.test(digits)) {
    return `<b ${argument}>: the argument must be an even number of hex digits, at least 2, with or without 0x`;
  }
  return { bytes: digits.length / 2, portable: `<b 0x${digits.toLowerCase()}>` };
}

function parseCount(
  tag: string,
  argument: string | undefined,
  make: (count: number) => ConcealTags,
): ConcealTags | string {
  if (argument === undefined) return `<${tag}> needs an argument`;
  const count = /^\d+$/.test(argument) ? Number(argument) : Number.NaN;
  if (count <= DATAGRAM_BYTES_MAX) return make(count);
  return `<${tag} ${argument}>: the argument must be 0 to ${DATAGRAM_BYTES_MAX}`;
}
