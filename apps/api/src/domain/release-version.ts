/** A version of a release: three numbers, and for one before its release what follows the dash. */
export type ReleaseVersion = {
  readonly numbers: readonly [major: number, minor: number, patch: number];
  readonly before: readonly string[];
};

/** Reads a version as Semantic Versioning 2.0 writes it; what follows a plus sign says nothing about order. */
export function parseReleaseVersion(text: string): ReleaseVersion | undefined {
  const found = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]{1,100})?$/.exec(text);
  if (!found) return undefined;
  const [, major, minor, patch, before] = found;
  return { numbers: [Number(major), Number(minor), Number(patch)], before: before?.split(".") ?? [] };
}

/** Less than 0 when `left` comes before `right`. */
export function compareReleases(left: ReleaseVersion, right: ReleaseVersion): number {
  for (const [place, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[place] ?? 0);
    if (difference !== 0) return difference;
  }
  // A version without a dash comes behind all that have one.
  if (left.before.length === 0 || right.before.length === 0) return right.before.length - left.before.length;
  for (const [place, part] of left.before.entries()) {
    const other = right.before[place];
    if (other === undefined) return 1;
    const difference = compareParts(part, other);
    if (difference !== 0) return difference;
  }
  return left.before.length - right.before.length;
}

/** Numbers come before words and go by their value; words go by their characters. */
function compareParts(left: string, right: string): number {
  const numbers = [left, right].map((part) => (/^\d+$/.test(part) ? Number(part) : undefined));
  const [first, second] = numbers;
  if (first !== undefined && second !== undefined) return first - second;
  if (first !== undefined || second !== undefined) return first === undefined ? 1 : -1;
  return left === right ? 0 : left < right ? -1 : 1;
}

/** How a version stands to ours; `unknown` when one of them is none. */
export function standing(version: string, ours: string): "older" | "same" | "newer" | "unknown" {
  const [one, other] = [parseReleaseVersion(version), parseReleaseVersion(ours)];
  if (!one || !other) return "unknown";
  const difference = compareReleases(one, other);
  return difference === 0 ? "same" : difference < 0 ? "older" : "newer";
}
