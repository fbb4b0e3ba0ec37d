import { z } from "zod";
import { restContracts } from "./openapi.ts";
import { STATUS_OF_CODE, TITLES } from "./problem-of.ts";
import { shapeOf } from "./query-values.ts";

/** A readable page over the contracts, complete in itself: no script, no foreign asset. */
export function docsPage(version: string): string {
  const groups = new Map<string, ReturnType<typeof restContracts>>();
  for (const entry of restContracts()) {
    const noun = entry.name.split(".")[0] ?? "";
    groups.set(noun, [...(groups.get(noun) ?? []), entry]);
  }
  const sections = [...groups].map(([noun, entries]) => {
    const articles = entries.map(({ name, contract }) => {
      const { rest, access } = contract;
      const right = access.kind === "public" ? "public" : access.kind === "role" ? `role ${access.role}` : "signed in";
      const scope = access.kind === "public" ? "" : ` · scope <code>${access.scope}</code>`;
      return `<article id="${escape(name)}">
<h3><span class="method">${rest.method}</span> <code>/api/v1${escape(rest.path)}</code></h3>
<p>${escape(contract.summary)}. <small>${right}${scope} · answers ${rest.status} · tRPC <code>${escape(name)}</code></small></p>
${fieldTable("Input", contract.input)}${fieldTable("Output", contract.output)}</article>`;
    });
    return `<section><h2>${escape(noun)}</h2>${articles.join("")}</section>`;
  });
  const links = [...groups.keys()].map(
    (noun) => `<a href="#${escape(groups.get(noun)?.[0]?.name ?? "")}">${escape(noun)}</a>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>weft API</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/api/v1/docs.css"></head><body>
<header><h1>weft API <small>${escape(version)}</small></h1>
<p>Send <code>Authorization: Bearer weft_pat_…</code>. The same as a machine reads it: <a href="/api/v1/openapi.json">openapi.json</a>.</p>
<nav>${links.join(" · ")} · <a href="#errors">errors</a></nav></header><main>${sections.join("")}${errorSection()}</main></body></html>`;
}

/** Style of the page; a file of its own, because the page's policy forbids inline style. */
export const DOCS_STYLE = `
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:60rem;margin:2rem auto;padding:0 1rem}
article{border-top:1px solid color-mix(in srgb,currentColor 20%,transparent);padding:.5rem 0}
h3{margin:.5rem 0;font-size:1rem}.method{display:inline-block;min-width:4.5em;font-weight:700}
table{border-collapse:collapse;margin:.5rem 0;width:100%}caption{text-align:left;font-weight:600}
td,th{text-align:left;padding:.15rem 1rem .15rem 0;vertical-align:top;font-size:.9rem}small{opacity:.75}`;

/** Where the `type` of every problem document leads. */
function errorSection(): string {
  const rows = Object.entries(STATUS_OF_CODE).map(
    ([code, status]) =>
      `<tr id="error-${escape(code)}"><td><code>${escape(code)}</code></td><td>${status}</td><td>${escape(TITLES[status] ?? "")}</td></tr>`,
  );
  return `<section id="errors"><h2>errors</h2><table><caption>Code of a problem document, and its status</caption>${rows.join("")}</table></section>`;
}

function fieldTable(title: string, schema: z.ZodType): string {
  const rows = Object.entries(shapeOf(schema)).map(([name, field]) => {
    const { $schema: _dialect, ...json } = z.toJSONSchema(field, { io: "input", unrepresentable: "any" });
    const note = field.description ?? json.description ?? "";
    const optional = field.safeParse(undefined).success ? "optional" : "";
    return `<tr><td><code>${escape(name)}</code></td><td>${escape(typeText(json))} ${optional}</td><td>${escape(note)}</td></tr>`;
  });
  return rows.length === 0 ? "" : `<table><caption>${title}</caption>${rows.join("")}</table>`;
}

function typeText(json: object): string {
  if ("enum" in json && Array.isArray(json.enum)) return json.enum.join(" | ");
  if ("anyOf" in json && Array.isArray(json.anyOf)) return json.anyOf.map(typeText).join(" | ");
  if ("items" in json && typeof json.items === "object" && json.items) return `list of ${typeText(json.items)}`;
  if ("$ref" in json) return String(json.$ref).replace(/^.*\//, "");
  return "type" in json ? String(json.type) : "any";
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
