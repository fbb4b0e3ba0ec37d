import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Json } from "../testing/rest-client.ts";
import { openApiDocument } from "./openapi.ts";

/**
 * What v1 promises, a line each: operations, their inputs, the fields of their answers. Lines are only ever added to the
 * file: `WEFT_PROMISE=write npx vitest run --project api src/http/promised-surface.test.ts` prints the present surface.
 */
const FILE = join(import.meta.dirname, "promised-surface.txt");

function surface(document: Json): { readonly lines: ReadonlySet<string>; readonly needed: ReadonlySet<string> } {
  const lines = new Set<string>();
  const needed = new Set<string>();
  const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ at: `${method.toUpperCase()} ${path}`, operation })),
  );
  for (const { at, operation } of operations) {
    lines.add(at);
    const body = operation.requestBody?.content["application/json"]?.schema;
    const inputs: { name: string; required: boolean }[] = [
      ...(operation.parameters ?? []),
      ...Object.keys(body?.properties ?? {}).map((name) => ({
        name,
        required: body.required?.includes(name) === true,
      })),
    ];
    for (const { name } of inputs) lines.add(`${at} takes ${name}`);
    for (const { name } of inputs.filter(({ required }) => required)) needed.add(`${at} takes ${name}`);
    for (const name of givenBy(operation, document)) lines.add(`${at} gives ${name}`);
  }
  return { lines, needed };
}

function givenBy(operation: Json, document: Json): string[] {
  const answers = Object.entries<Json>(operation.responses).filter(([status]) => status.startsWith("2"));
  return answers.flatMap(([, { content }]) => {
    const schema = content?.["application/json"]?.schema;
    const named = schema?.$ref === undefined ? schema : document.components.schemas[schema.$ref.split("/").at(-1)];
    return Object.keys(named?.properties ?? {});
  });
}

test("what v1 promised is still there, and nothing that was promised needs more than it did", async () => {
  const { lines, needed } = surface(openApiDocument("1"));
  const all = [...lines].map((line) => (needed.has(line) ? `${line}, needed` : line)).toSorted();
  if (process.env["WEFT_PROMISE"] === "write") process.stdout.write(`PROMISE\n${all.join("\n")}\nEND\n`);
  const promised = (await readFile(FILE, "utf8")).split("\n").filter(Boolean);
  const plain = new Set(promised.map((line) => line.replace(/, needed$/, "")));
  const operations = new Set(promised.map((line) => line.split(" ", 2).join(" ")));

  expect(promised.length).toBeGreaterThan(1_000);
  expect([...plain].filter((line) => !lines.has(line))).toEqual([]);
  const stricter = [...needed].filter(
    (line) => operations.has(line.split(" ", 2).join(" ")) && !promised.includes(`${line}, needed`),
  );
  expect(stricter).toEqual([]);
});
