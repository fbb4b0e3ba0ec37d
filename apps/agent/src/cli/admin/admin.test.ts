import { createServer, type Server } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { CALLS, type Call, type CallField } from "@weft/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { runCli } from "../program.ts";

type Seen = { readonly method: string; readonly url: URL; readonly body: unknown; readonly tag: string | undefined };

let server: Server;
let url = "";
let folder = "";
let seen: Seen[] = [];
/** What the server says to everything, where a test wants that. */
let answer: { readonly status: number; readonly body: unknown } | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weft-admin-"));
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (part: Buffer) => (text += part.toString()));
    request.on("end", () => {
      const at = new URL(request.url ?? "", "http://localhost");
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      seen.push({ method: request.method ?? "", url: at, body, tag: request.headers["if-match"] });
      const call = CALLS.find(({ method, path }) => method === request.method && matches(path, at.pathname));
      if (call?.answers === "file" && !answer) {
        response.writeHead(200, { "content-type": "application/octet-stream" }).end("bytes");
        return;
      }
      if (call?.answers === "nothing" && !answer) {
        response.writeHead(204).end();
        return;
      }
      const { status, body: said } = answer ?? { status: 200, body: { id: "x", items: [], nextCursor: null } };
      const type = status < 400 ? "application/json" : "application/problem+json";
      response.writeHead(status, { "content-type": type }).end(JSON.stringify(said));
    });
  });
  // A connection that ends for idleness would meet the next request halfway.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const bound = server.address();
  url = `http://127.0.0.1:${String(typeof bound === "object" && bound ? bound.port : 0)}`;
  process.env["WEFT_TOKEN"] = "weft_pat_test";
});
beforeEach(() => {
  seen = [];
  answer = undefined;
});
afterAll(() => {
  delete process.env["WEFT_TOKEN"];
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function matches(path: string, pathname: string): boolean {
  return new RegExp(`^/api/v1${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname);
}

async function run(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const streams = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) };
  const code = await runCli(words, {
    streams,
    runForeground: () => Promise.resolve(0),
    whyNoTunnel: () => null,
    installation: { program: "weft.js", record: null },
    confirm: () => Promise.resolve("nobody"),
  });
  return { code, out, err };
}

const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** What a person would type for a field, and what the server must get for it. */
function sampleOf(field: CallField): { readonly text: string; readonly value: unknown } {
  if (field.choices) return { text: field.choices[0] ?? "", value: field.choices[0] };
  switch (field.kind) {
    case "number":
      return { text: "7", value: 7 };
    case "boolean":
      return { text: "true", value: true };
    case "texts":
      return { text: "one,two", value: ["one", "two"] };
    case "json":
      return { text: '{"deep":[1]}', value: { deep: [1] } };
    default:
      return { text: `a b/${field.name}`, value: `a b/${field.name}` };
  }
}

/** The whole command line of an operation, with every field it has. */
function wordsFor(call: Call): string[] {
  const [noun = "", verb = ""] = call.name.split(".");
  const at = (place: string) => call.fields.filter((field) => field.place === place);
  const path = at("path").map((field) => sampleOf(field).text);
  const options = [...at("query"), ...at("body")].flatMap((field) => [`--${kebab(field.name)}`, sampleOf(field).text]);
  const output = call.answers === "file" ? ["--output", join(folder, call.name)] : [];
  return ["admin", kebab(noun), kebab(verb), ...path, ...options, "--server", url, "--json", ...output];
}

describe("F-F4 weft admin has every operation", () => {
  test.each(CALLS.map((call) => ({ name: call.name, call })))("F-F4 $name with all its arguments", async ({ call }) => {
    const outcome = await run(...wordsFor(call));
    expect(outcome).toMatchObject({ code: 0, err: "" });

    const values = (place: string) =>
      Object.fromEntries(
        call.fields.filter((field) => field.place === place).map((field) => [field.name, sampleOf(field).value]),
      );
    const path = call.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
      encodeURIComponent(String(values("path")[name])),
    );
    const query = Object.entries(values("query")).map(([name, value]) => [name, String(value)]);
    expect(seen).toHaveLength(1);
    expect(seen[0]?.method).toBe(call.method);
    expect(seen[0]?.url.pathname).toBe(new URL(`/api/v1${path}`, url).pathname);
    expect([...(seen[0]?.url.searchParams ?? [])]).toEqual(query);
    const body = values("body");
    expect(seen[0]?.body ?? {}).toEqual(body);
    expect(() => JSON.parse(outcome.out)).not.toThrow();
  });

  test("F-F4 help of every operation says what it does and what each argument is", async () => {
    const poor: string[] = [];
    for (const call of CALLS) {
      const [noun = "", verb = ""] = call.name.split(".");
      const { code, out } = await run("admin", kebab(noun), kebab(verb), "--help");
      expect(code).toBe(0);
      const text = out.replaceAll(/\s+/g, " ");
      if (!text.includes(call.summary)) poor.push(`${call.name}: no summary`);
      for (const field of call.fields) {
        const word = field.place === "path" ? `<${kebab(field.name)}>` : `--${kebab(field.name)} `;
        if (!text.includes(word)) poor.push(`${call.name}: ${word} is not explained`);
        const unsaid = (field.choices ?? []).filter((choice) => !text.includes(choice));
        poor.push(...unsaid.map((choice) => `${call.name}: no ${choice}`));
      }
    }

    expect(poor).toEqual([]);
  });

  test("F-F4 an argument of the wrong kind is refused before anything is sent, and what it takes is said", async () => {
    let tried = 0;
    for (const call of CALLS) {
      for (const field of call.fields.filter(({ place }) => place !== "path")) {
        if (field.kind === "text" && !field.choices) continue;
        if (field.kind === "texts" && !field.choices) continue;
        const words = [...wordsFor(call), `--${kebab(field.name)}`, "{nonsense"];
        const { code, err, out } = await run(...words);
        expect({ name: call.name, field: field.name, code }).toEqual({ name: call.name, field: field.name, code: 2 });
        expect(err).toMatch(/must be (a number|true or false|JSON|one of )/);
        expect(JSON.parse(out)).toMatchObject({ error: { code: "usage" } });
        tried += 1;
      }
    }

    expect(seen).toEqual([]);
    expect(tried).toBeGreaterThan(100);
  });

  test("F-F4 null is sent as null wherever a field takes it", async () => {
    const nullable = CALLS.flatMap((call) =>
      call.fields
        .filter((field) => field.nullable === true && field.place === "body")
        .map((field) => ({ call, field })),
    );
    expect(nullable.length).toBeGreaterThan(5);
    for (const { call, field } of nullable) {
      seen = [];
      expect(await run(...wordsFor(call), `--${kebab(field.name)}`, "null")).toMatchObject({ code: 0 });
      expect(seen).toMatchObject([{ body: { [field.name]: null } }]);
    }
  });

  test("F-F4 a missing name in the path ends with the usage code for every operation that has one", async () => {
    for (const call of CALLS.filter(({ fields }) => fields.some(({ place }) => place === "path"))) {
      const [noun = "", verb = ""] = call.name.split(".");
      expect((await run("admin", kebab(noun), kebab(verb), "--server", url)).code).toBe(2);
    }

    expect(seen).toEqual([]);
  });

  test("F-F4 a body comes from a file; what stands on the command line wins", async () => {
    const file = join(folder, "body.json");
    writeFileSync(file, JSON.stringify({ name: "from the file", description: "kept" }));
    await run("admin", "groups", "create", "net_1", "--input", file, "--name", "from the line", "--server", url);

    expect(seen[0]?.body).toEqual({ name: "from the line", description: "kept" });
    writeFileSync(file, "[1]");
    expect(await run("admin", "groups", "create", "net_1", "--input", file, "--server", url)).toMatchObject({
      code: 2,
      err: "weft: --input must hold one JSON object\n",
    });
  });

  test("F-F4 a version goes along as If-Match", async () => {
    await run("admin", "groups", "remove", "grp_1", "--if-match", '"tag"', "--server", url);

    expect(seen[0]).toMatchObject({ method: "DELETE", tag: '"tag"' });
  });

  test.each([
    { status: 400, code: "invalid_input", exit: 2, says: "" },
    { status: 401, code: "not_authenticated", exit: 7, says: "; give another token: --token-file FILE" },
    { status: 403, code: "scope_missing", exit: 7, says: "; use a token that has it" },
    { status: 404, code: "not_found", exit: 6, says: "" },
    { status: 412, code: "version_mismatch", exit: 6, says: "" },
    { status: 428, code: "version_required", exit: 6, says: "; give the etag of the item, or *, as --if-match" },
    { status: 429, code: "rate_limited", exit: 6, says: "; try again in 4 s" },
    { status: 500, code: "internal", exit: 6, says: "; tell the operator the request id" },
  ])(
    "F-F4 a refusal with $status says why, what to do, its code and the request: exit code $exit",
    async ({ status, code, exit, says }) => {
      const detail = "the reason";
      const retry = status === 429 ? { retryAfterSeconds: 4 } : {};
      answer = { status, body: { type: "x", title: "x", status, detail, code, requestId: "req-7", ...retry } };
      const text = await run("admin", "networks", "list", "--server", url);
      const json = await run("admin", "networks", "list", "--server", url, "--json");

      expect(text).toMatchObject({ code: exit, out: "" });
      expect(text.err).toContain(`weft: the reason${says}`);
      expect(text.err).toContain(`(${code}, request req-7)`);
      expect(JSON.parse(json.out)).toMatchObject({
        error: { message: expect.stringContaining(`${code}, request req-7`) },
      });
      expect(json.code).toBe(exit);
    },
  );

  test("F-F4 a server that is not there is exit code 5; no server and no token are exit code 2", async () => {
    expect(await run("admin", "networks", "list", "--server", "http://127.0.0.1:9")).toMatchObject({ code: 5 });
    expect(await run("admin", "networks", "list")).toMatchObject({ code: 2 });
    delete process.env["WEFT_TOKEN"];
    try {
      expect(await run("admin", "networks", "list", "--server", url)).toMatchObject({ code: 2 });
      // What anybody may ask needs none.
      expect(await run("admin", "setup", "status", "--server", url)).toMatchObject({ code: 0 });
    } finally {
      process.env["WEFT_TOKEN"] = "weft_pat_test";
    }
  });
});
