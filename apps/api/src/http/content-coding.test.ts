import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { chooseCoding, compress } from "./content-coding.ts";

test.each([
  { header: undefined, coding: "identity" },
  { header: "", coding: "identity" },
  { header: "gzip, deflate, br, zstd", coding: "br" },
  { header: "gzip", coding: "gzip" },
  { header: "GZIP;Q=0.5", coding: "gzip" },
  { header: "br;q=0, gzip;q=0.1", coding: "gzip" },
  { header: "br;q=0.2, gzip;q=0.8", coding: "gzip" },
  { header: "*", coding: "br" },
  { header: "*;q=0.5, br;q=0", coding: "gzip" },
  { header: "deflate, identity", coding: "identity" },
  { header: "br;q=nonsense", coding: "identity" },
])("Accept-Encoding $header is answered with $coding", ({ header, coding }) => {
  expect(chooseCoding(header)).toBe(coding);
});

test("what is compressed can be read again, with either effort", async () => {
  const bytes = Buffer.from("peer ".repeat(1_000));

  for (const effort of ["once", "fast"] as const) {
    expect(brotliDecompressSync(await compress(bytes, "br", effort))).toEqual(bytes);
    expect(gunzipSync(await compress(bytes, "gzip", effort))).toEqual(bytes);
  }
});
