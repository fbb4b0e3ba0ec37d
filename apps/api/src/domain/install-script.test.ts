import { expect, test } from "vitest";
import { fillInstallScript } from "./install-script.ts";

const TEMPLATE = "SERVER_URL='@SERVER_URL@'\nARCHIVES='@ARCHIVES@'\n";
const archives = [
  { arch: "x64", digest: "a".repeat(64) },
  { arch: "arm64", digest: "b".repeat(64) },
];

test.each([
  "http://192.0.2.7:7400",
  "https://weft.example.org",
  "http://[2001:db8::7]:7400",
  "http://localhost:7400",
  "http://weft",
])("%s is filled in with every archive", (serverUrl) => {
  expect(fillInstallScript(TEMPLATE, { serverUrl, archives })).toBe(
    `SERVER_URL='${serverUrl}'\nARCHIVES='x64 ${"a".repeat(64)}\narm64 ${"b".repeat(64)}'\n`,
  );
});

test.each([
  "http://x'; reboot; '",
  "http://$(reboot)",
  "http://`reboot`",
  "http://a b",
  "http://a\nb",
  "http://a/path",
  "ftp://a",
  "http://",
  "http://user@a",
  "http://@ARCHIVES@",
])("an address like %j is refused", (serverUrl) => {
  expect(fillInstallScript(TEMPLATE, { serverUrl, archives })).toBeNull();
});
