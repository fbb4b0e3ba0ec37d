import { type Endpoint, parseEndpoint } from "@weft/protocol";
import { expect, test } from "vitest";
import {
  activeSource,
  attemptTargets,
  createEndpointChoice,
  withAuthenticated,
  withCandidates,
} from "./endpoint-choice.ts";
import { pathHeard, pathSilent, UNKNOWN_PATH } from "./path-state.ts";

test("starts with the best candidate", () => {
  expect(createEndpointChoice([A, B]).active).toBe(A);
  expect(createEndpointChoice([]).active).toBeNull();
});

test("an address the peer was heard from stays, whatever the map says, while the path works", () => {
  const roamed = withAuthenticated(createEndpointChoice([A]), D);

  expect(withCandidates(roamed, [B], DIRECT).active).toBe(D);
  expect(activeSource(roamed)).toBe("roamed");
});

test("new candidates win over an address that went silent or never worked", () => {
  const roamed = withAuthenticated(createEndpointChoice([A]), D);

  expect(withCandidates(roamed, [B, C], pathSilent(DIRECT, 9)).active).toBe(B);
  expect(withCandidates(createEndpointChoice([A]), [B], UNKNOWN_PATH).active).toBe(B);
});

test("a map without candidates does not take away the address we have", () => {
  expect(withCandidates(withAuthenticated(createEndpointChoice([]), D), [], UNKNOWN_PATH).active).toBe(D);
});

test("tries a working path alone first, then others beside it", () => {
  const choice = withAuthenticated(createEndpointChoice([A, B, C]), D);

  expect(attemptTargets(choice, DIRECT, 1)).toEqual([D]);
  expect(attemptTargets(choice, DIRECT, 2)).toHaveLength(3);
});

test("reaches every address within as many attempts as it takes, three at a time, none twice in one", () => {
  const many = Array.from({ length: 8 }, (_, index) => endpoint(`192.0.2.${index}:1`));
  const choice = createEndpointChoice(many);

  const tried = [1, 2, 3].map((attempt) => attemptTargets(choice, UNKNOWN_PATH, attempt));

  expect(new Set(tried.flat())).toEqual(new Set(many));
  for (const targets of tried) expect(new Set(targets).size).toBe(3);
});

test("has nothing to try without any address", () => {
  expect(attemptTargets(createEndpointChoice([]), UNKNOWN_PATH, 1)).toEqual([]);
});

function endpoint(text: string): Endpoint {
  const parsed = parseEndpoint(text);
  if (!parsed.ok) throw new Error(parsed.error.detail);
  return parsed.value;
}

const [A, B, C, D] = [
  endpoint("192.0.2.1:1"),
  endpoint("192.0.2.2:1"),
  endpoint("192.0.2.3:1"),
  endpoint("198.51.100.1:9"),
];
const DIRECT = pathHeard(UNKNOWN_PATH, 1);
