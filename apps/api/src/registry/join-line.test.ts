import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { installLine, joinUrl } from "./join-line.ts";

test.each([
  { baseUrl: "http://localhost:7400", publicUrl: undefined, reachableHost: "192.0.2.7", url: "http://192.0.2.7:7400" },
  {
    baseUrl: "http://[::1]:7400",
    publicUrl: undefined,
    reachableHost: "[2001:db8::7]",
    url: "http://[2001:db8::7]:7400",
  },
  { baseUrl: "http://localhost:7400", publicUrl: undefined, reachableHost: undefined, url: "http://localhost:7400" },
  { baseUrl: "http://weft.lan:7400", publicUrl: undefined, reachableHost: "192.0.2.7", url: "http://weft.lan:7400" },
  {
    baseUrl: "http://localhost:7400",
    publicUrl: "https://weft.example.org",
    reachableHost: "192.0.2.7",
    url: "https://weft.example.org",
  },
])("a join line made at $baseUrl (public $publicUrl, reachable $reachableHost) leads to $url", ({ url, ...urls }) => {
  expect(joinUrl(urls)).toBe(url);
});

describe("the install line", () => {
  const script = 'printf \'got %s\' "$1"; rm "$0"\n';
  const run = (line: string, served: string): Promise<{ readonly code: number; readonly out: string }> =>
    serveOnce(served, (url) => runShell(line.replace("http://server", url)));
  const digest = createHash("sha256").update(script).digest("hex");

  test("is one line that reads well", () => {
    expect(installLine("http://192.0.2.7:7400", "KEY", "d1")).toBe(
      'f=$(mktemp) && curl -fsS http://192.0.2.7:7400/install.sh -o "$f" && echo "d1 *$f" | sha256sum -c && sh "$f" KEY',
    );
  });

  test("runs the script that the server announced, with the key", async () => {
    const outcome = await run(installLine("http://server", "KEY", digest), script);

    expect(outcome).toEqual({ code: 0, out: expect.stringMatching(/: OK\ngot KEY$/) });
  });

  test("runs nothing of a script that somebody changed on the way", async () => {
    const outcome = await run(installLine("http://server", "KEY", digest), `${script}echo evil\n`);

    expect(outcome.code).not.toBe(0);
    expect(outcome.out).not.toMatch(/got|evil/);
  });
});

async function serveOnce<T>(body: string, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((_request, response) => response.end(body)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  const port = typeof bound === "object" && bound ? bound.port : 0;
  try {
    return await use(`http://127.0.0.1:${port}`);
  } finally {
    server.close();
  }
}

function runShell(line: string): Promise<{ readonly code: number; readonly out: string }> {
  return new Promise((resolve) => {
    execFile("sh", ["-c", line], (error, out) => resolve({ code: error ? 1 : 0, out }));
  });
}
