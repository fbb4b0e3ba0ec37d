import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";

import { metricsText } from "./metrics-text.ts";
import { openMetrics, type MetricsEndpoint } from "./metrics-endpoint.ts";
import { metricsPort } from "../settings/metrics-port.ts";
import { aStatus } from "../testing/a-status.ts";

const opened: MetricsEndpoint[] = [];
afterEach(async () => {
  for (const endpoint of opened.splice(0)) await endpoint.close();
});

describe("metrics", () => {
  test("are samples under names with units, labels escaped, one HELP and TYPE per name", () => {
    const lines = metricsText(STATUS).split("\n");

    expect(lines).toContain('weft_engine_drops_total{reason="badTag"} 3');
    expect(lines).toContain("weft_engine_udp_send_calls_total 12");
    expect(lines).toContain('weft_engine_stage_packets_total{shard="1",stage="seal"} 130');
    expect(lines).toContain('weft_offload{name="udpGso",state="off",reason="a \\"reason\\""} 1');
    expect(lines).toContain('weft_peer_receive_bytes_total{peer="other"} 2048');
    expect(lines).toContain("# TYPE weft_engine_restarts_total counter");
    const named = lines.filter((line) => line.startsWith("# TYPE"));
    expect(new Set(named).size).toBe(named.length);
    const samples = lines.filter((line) => line !== "" && !line.startsWith("#"));
    for (const line of samples) expect(line).toMatch(/^[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)+\})? [\d.]+$/);
    expect(lines.at(-1)).toBe("");
  });

  test.each([
    { title: "are served on loopback", path: "/metrics", host: "localhost:9", method: "GET", code: 200 },
    { title: "are nowhere else", path: "/", host: "127.0.0.1", method: "GET", code: 404 },
    { title: "are read only", path: "/metrics", host: "127.0.0.1", method: "POST", code: 405 },
    { title: "stay hidden from pages in a browser", path: "/metrics", host: "evil.example", method: "GET", code: 403 },
  ])("$title", async ({ path, host, method, code }) => {
    const endpoint = await openMetrics(0, () => STATUS);
    if (!endpoint.ok) throw new Error(endpoint.error.message);
    opened.push(endpoint.value);

    const answer = await ask({ port: endpoint.value.port, path, host, method });

    expect(answer.code).toBe(code);
    expect(answer.body.includes("weft_up 1")).toBe(code === 200);
  });

  test("on a port that is taken say so", async () => {
    const first = await openMetrics(0, () => STATUS);
    if (!first.ok) throw new Error(first.error.message);
    opened.push(first.value);

    const second = await openMetrics(first.value.port, () => STATUS);

    expect(second.ok ? "" : second.error.message).toContain("EADDRINUSE");
  });
});

describe("the setting", () => {
  test.each([
    { text: undefined, port: null },
    { text: "", port: null },
    { text: "9586", port: 9_586 },
  ])("$text means port $port", ({ text, port }) => {
    expect(metricsPort({ WEFT_METRICS_PORT: text })).toEqual({ ok: true, value: port });
  });

  test.each(["0", "65536", "x", "1e3"])("%s is refused with a sentence", (text) => {
    expect(metricsPort({ WEFT_METRICS_PORT: text })).toMatchObject({ ok: false, error: { code: "bad_environment" } });
  });
});

function ask(to: {
  readonly port: number;
  readonly path: string;
  readonly host: string;
  readonly method: string;
}): Promise<{ readonly code: number | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const { port, path, method } = to;
    const sent = request({ host: "127.0.0.1", port, path, method, headers: { host: to.host } }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => (body += text));
      response.on("end", () => resolve({ code: response.statusCode, body }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

const STATUS = aStatus({
  peers: [
    {
      id: "peer_y",
      name: "other",
      publicKey: "rMwYC7ZxG5vQpQ2nJ0oQb7yC0pXk1n0m6uJ7p4h2k1E=",
      ipv4: "10.0.0.2",
      ipv6: null,
      endpoint: null,
      session: "up",
      lastHandshakeAgeMs: null,
      rxBytes: 2048,
      txBytes: 1,
      profile: "active",
      cipher: "aes-256-gcm",
      elision: "on",
      lanes: 8,
      lanesInUse: 5,
      lanesNote: null,
      pathMtu: { state: "unknown" },
      drops: {},
    },
  ],
  offloads: [{ name: "udpGso", state: "off", reason: 'a "reason"' }],
  engine: {
    restarts: 1,
    lastFailure: null,
    drops: { badTag: 3 },
    totals: { dropBadTag: 3, udpSendCalls: 12 },
    syscallsPerMegabyte: 4,
    stages: [
      {
        shard: 1,
        stage: "seal",
        batches: 4,
        packets: 130,
        bytes: 9,
        nanoseconds: 5,
        packetsPerBatch: 32.5,
        batchSizes: {},
      },
    ],
  },
});
