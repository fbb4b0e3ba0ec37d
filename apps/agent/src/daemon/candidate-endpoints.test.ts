import { aPrefix } from "@weft/protocol/testing";
import { expect, test } from "vitest";

import { candidateEndpoints } from "./candidate-endpoints.ts";

const own = { interfaceName: "weft0", ranges: [aPrefix("10.77.0.0/16")] };
const link = (name: string, addresses: string[], up = true) => ({ name, up, addresses });

test("candidates are the addresses of interfaces that are up, IPv4 first", () => {
  const links = [
    link("lo", ["127.0.0.1/8", "::1/128"]),
    link("eth0", ["2001:db8::7/64", "192.0.2.7/24", "fe80::1/64"]),
    link("eth1", ["198.51.100.1/24"], false),
  ];

  expect(candidateEndpoints(links, 51_820, own)).toEqual(["192.0.2.7:51820", "[2001:db8::7]:51820"]);
});

test("the node's own interface and network are left out, also behind another interface", () => {
  const links = [link("weft0", ["10.77.0.1/32"]), link("other", ["10.77.9.9/24"]), link("eth0", ["192.0.2.7/24"])];

  expect(candidateEndpoints(links, 1, own)).toEqual(["192.0.2.7:1"]);
});

test("link-local addresses are named only when there is nothing else", () => {
  expect(candidateEndpoints([link("eth0", ["fe80::1/64", "fe80::1/64"])], 1, own)).toEqual(["[fe80::1]:1"]);
  expect(candidateEndpoints([link("eth0", ["what?"])], 1, own)).toEqual([]);
});
