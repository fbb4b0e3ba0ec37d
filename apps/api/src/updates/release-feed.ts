import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { z } from "zod";
import { compareReleases, parseReleaseVersion } from "../domain/release-version.ts";

/** One release as a feed names it. */
const ReleaseSchema = z.object({
  version: z
    .string()
    .max(60)
    .refine((text) => parseReleaseVersion(text) !== undefined, "expected a version such as 1.2.3"),
  /** Where a person reads about it. */
  url: z.url({ protocol: /^https$/ }).max(500),
  /** security: it closes a hole in what runs before it. */
  severity: z.enum(["normal", "security"]).default("normal"),
  summary: z.string().max(300).default(""),
});

/** Feeds may say more than this; what they say about releases is checked. */
const FeedSchema = z.object({ releases: z.array(ReleaseSchema).max(200) });

export type Release = z.output<typeof ReleaseSchema>;

/** Reads a feed; a faulty one is refused whole, with the reason. */
export function readFeed(text: string): Result<readonly Release[], string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err("the feed is no JSON");
  }
  const parsed = FeedSchema.safeParse(value);
  if (parsed.success) return ok(parsed.data.releases);
  const [issue] = parsed.error.issues;
  return err(`the feed is faulty at ${issue?.path.join("/") ?? ""}: ${issue?.message ?? ""}`.slice(0, 300));
}

/** The newest release behind `running`; it counts as one for security when any on the way to it is. Drafts are left out. */
export function newerRelease(releases: readonly Release[], running: string): Release | undefined {
  const own = parseReleaseVersion(running);
  if (!own) return undefined;
  const ahead = releases
    .flatMap((release) => {
      const version = parseReleaseVersion(release.version);
      return version && version.before.length === 0 && compareReleases(version, own) > 0 ? [{ release, version }] : [];
    })
    .toSorted((left, right) => compareReleases(right.version, left.version));
  const [newest] = ahead;
  if (!newest) return undefined;
  const severity = ahead.some(({ release }) => release.severity === "security") ? "security" : "normal";
  return { ...newest.release, severity };
}
