import { expect, test } from "vitest";
import { joinUrl } from "./join-line.ts";

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
