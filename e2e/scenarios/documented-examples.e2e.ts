import { readdirSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

import { adminCli, type AdminCli } from "../harness/admin-cli.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { repositoryPath } from "../harness/repository.ts";
import { runCommand } from "../harness/run-command.ts";
import { createOwner, startServer, type Server } from "../harness/server.ts";

/** A block of a document that calls the API, with the answer that the next block shows. */
type Example = {
  readonly line: number;
  readonly script: string;
  readonly shown: { readonly language: "json" | "text"; readonly text: string } | undefined;
  /** What the comment in front of the block says. */
  readonly mark: string | undefined;
};

const BLOCK = /(?:<!-- example: (?<mark>[^\n]*) -->\n)?```(?<language>sh|json|text)\n(?<text>.*?)```\n/gs;
const BOOTSTRAP = "bootstrap-token-of-an-example";

function examplesOf(text: string): Example[] {
  const blocks = [...text.matchAll(BLOCK)].map((match) => ({ ...match.groups, index: match.index }) as never);
  const BlockSchema = z.object({
    mark: z.string().optional(),
    language: z.enum(["sh", "json", "text"]),
    text: z.string(),
    index: z.number(),
  });
  const read = z.array(BlockSchema).parse(blocks);
  return read.flatMap(({ mark, language, text: script, index }, place): Example[] => {
    if (language !== "sh" || !/weft admin|\/api\/v1/.test(script)) return [];
    const next = read[place + 1];
    const shown = next && next.language !== "sh" ? { language: next.language, text: next.text } : undefined;
    return [{ line: text.slice(0, index).split("\n").length, script, shown, mark }];
  });
}

function isLeftOut({ mark }: Example): boolean {
  return mark?.startsWith("not run") === true;
}

function documents(): string[] {
  const below = readdirSync(repositoryPath("docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => repositoryPath("docs", name));
  return [repositoryPath("README.md"), repositoryPath("SECURITY.md"), ...below.toSorted()];
}

const found = documents()
  .map((path) => ({ file: relative(repositoryPath(), path), examples: examplesOf(readFileSync(path, "utf8")) }))
  .filter(({ examples }) => examples.length > 0);

test("the documents have examples to run", () => {
  expect(found.map(({ file }) => file)).toEqual(expect.arrayContaining(["README.md", "docs/automation.md"]));
});

describe.each(found)("examples of $file", ({ examples }) => {
  let server: Server;
  let cli: AdminCli;
  /** What stands for an id in later examples: the last one of its kind that an answer showed. */
  const ids = new Map<string, string>();

  beforeAll(async () => {
    server = await startServer();
    const { client, networkId } = await createOwner(server, "correct horse battery staple");
    ids.set("NETWORK_ID", networkId);
    cli = await adminCli(server.url, client);
  });
  afterAll(async () => {
    await server.stop();
    await cleanUpNow();
  });

  test("an example that is not run says why beside it", () => {
    for (const { line, mark } of examples.filter(isLeftOut))
      expect(mark, `line ${line}`).toMatch(/^not run, it needs \w+/);
  });

  test.for(examples.filter((example) => !isLeftOut(example)))(
    "the example in line $line does what it shows",
    async ({ script, shown, mark = "" }) => {
      const fresh =
        mark === "on a new server" ? await startServer({ env: { WEFT_BOOTSTRAP_TOKEN: BOOTSTRAP } }) : undefined;
      const wanted = Number(/^exit code (\d+)$/.exec(mark)?.[1] ?? 0);
      const known = ["", "on a new server"].includes(mark) || wanted > 0;
      expect(known, `what does "${mark}" mean?`).toBe(true);
      try {
        const url = (fresh ?? server).url;
        const filled = [...ids]
          .reduce((text, [word, id]) => text.replaceAll(word, id), script)
          .replaceAll("http://localhost:7400", url);
        const env = { ...cli.env, WEFT_SERVER: url, WEFT_BOOTSTRAP_TOKEN: BOOTSTRAP };
        const { code, stdout, stderr } = await runCommand("bash", ["-euo", "pipefail", "-c", filled], {
          cwd: cli.folder,
          env,
        });

        expect({ code, said: code === wanted ? "" : stderr + stdout }).toEqual({ code: wanted, said: "" });
        for (const [id, kind] of stdout.matchAll(/\b(net|grp|peer|rule)_[a-z0-9]{20,}/g))
          ids.set(WORDS.get(kind ?? "") ?? "", id);
        if (/api\/v1/.test(script) && !shown) expect(stdout).not.toContain('"code":');
        if (shown?.language === "json")
          expect(withGaps(JSON.parse(stdout), JSON.parse(shown.text))).toEqual(JSON.parse(shown.text));
        if (shown?.language === "text") expect(stdout).toMatch(patternOf(shown.text));
      } finally {
        await fresh?.stop();
      }
    },
  );
});

const WORDS = new Map([
  ["net", "NETWORK_ID"],
  ["grp", "GROUP_ID"],
  ["peer", "PEER_ID"],
  ["rule", "RULE_ID"],
]);

/** The answer, with the document's text wherever that leaves something open and the answer fits it. */
function withGaps(answer: unknown, shown: unknown): unknown {
  if (typeof answer === "string" && typeof shown === "string" && shown.includes("…")) {
    return patternOf(shown).test(answer) ? shown : answer;
  }
  if (Array.isArray(answer) && Array.isArray(shown)) return answer.map((item, place) => withGaps(item, shown[place]));
  if (typeof answer !== "object" || answer === null || typeof shown !== "object" || shown === null) return answer;
  const texts = new Map(Object.entries(shown));
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, withGaps(value, texts.get(key))]));
}

function patternOf(shown: string): RegExp {
  const pieces = shown.trim().split("…");
  return new RegExp(pieces.map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[^]*"));
}
