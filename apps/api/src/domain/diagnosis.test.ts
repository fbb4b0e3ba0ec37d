import { ruleIds } from "@weft/protocol";
import { expect, test } from "vitest";
import { diagnose, verdictOf } from "./diagnosis.ts";
import type { DiagnosedPeer, DiagnosisFacts, DiagnosisStep } from "./diagnosis.ts";

const id = ruleIds.make((length) => new Uint8Array(length).fill(1));
const well = { state: "active", presence: "online", map: "applied", families: [4, 6], endpointCount: 1 } as const;
const from: DiagnosedPeer = { ...well, name: "a" };
const to: DiagnosedPeer = { ...well, name: "b" };
const GOOD: DiagnosisFacts = {
  from,
  to,
  rule: { id, action: "allow" },
  clients: [],
  link: { endpoint: "192.0.2.1:1", lastHandshakeAgeMs: 5_000 },
};

test("F-G8 a pair that talks reaches each other, and every step says what is good", () => {
  const steps = diagnose(GOOD);
  expect(steps.map(({ step }) => step)).toEqual(["approval", "expiry", "policy", "route", "path", "handshake"]);
  expect(verdictOf(steps)).toBe("reaches");
});

test.each<readonly [DiagnosisStep["step"], Partial<DiagnosisFacts>, string, RegExp]>([
  ["approval", { to: { ...to, state: "pending" } }, "cannot", /b is pending: approve it/],
  ["approval", { from: { ...from, state: "disabled" } }, "cannot", /a is disabled: enable it/],
  ["expiry", { to: { ...to, state: "expired" } }, "cannot", /membership of b has expired/],
  ["policy", { rule: undefined }, "cannot", /no rule speaks of it/],
  ["policy", { rule: { id, action: "deny" } }, "cannot", /denies it/],
  ["route", { to: { ...to, families: [6] }, from: { ...from, families: [4] } }, "cannot", /same family/],
  ["route", { to: { ...to, map: "pending" } }, "unclear", /b has not applied/],
  ["path", { link: undefined, to: { ...to, presence: "offline" } }, "cannot", /b is offline/],
  ["path", { link: undefined }, "unclear", /has not sent anything/],
  ["handshake", { link: { endpoint: "192.0.2.1:1", lastHandshakeAgeMs: null } }, "unclear", /no handshake/],
  ["handshake", { link: { endpoint: "192.0.2.1:1", lastHandshakeAgeMs: 200_000 } }, "unclear", /200 s ago/],
])("F-G8 the step %s tells what stands in the way: %j", (...given) => {
  const [step, change, verdict, reason] = given;
  const steps = diagnose({ ...GOOD, ...change });
  expect(steps.find((one) => one.step === step)?.reason).toMatch(reason);
  expect(verdictOf(steps)).toBe(verdict);
});
