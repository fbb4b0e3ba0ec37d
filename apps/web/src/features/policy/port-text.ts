import type { Rule } from "../../api/types.ts";

/** Reads ports as people write them, as in `80, 8000-8080`; null for nothing, which means any. */
export function parsePorts(text: string): Rule["ports"] | "unreadable" {
  const parts = text.split(/[,\s]+/).filter((part) => part !== "");
  if (parts.length === 0) return null;
  const ranges = parts.map((part) => /^(\d{1,5})(?:[-–](\d{1,5}))?$/.exec(part));
  const ports = ranges.flatMap((found) =>
    found ? [{ low: Number(found[1]), high: Number(found[2] ?? found[1]) }] : [],
  );
  const isGood = ports.length === parts.length && ports.every(({ low, high }) => low <= high && high <= 65_535);
  return isGood ? ports : "unreadable";
}
