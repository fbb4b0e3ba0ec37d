import { expect, test } from "vitest";

import { forbiddenJobs } from "./forbidden-jobs.ts";

test("AP-71 the host's own settings forbid kinds of work", () => {
  expect(forbiddenJobs({})).toEqual({ ok: true, value: new Set() });
  expect(forbiddenJobs({ WEFT_FORBIDDEN_JOBS: "profile, debugBundle" })).toEqual({
    ok: true,
    value: new Set(["profile", "debugBundle"]),
  });
  expect(forbiddenJobs({ WEFT_FORBIDDEN_JOBS: "profile,dance" })).toMatchObject({
    ok: false,
    error: { code: "bad_environment", message: expect.stringContaining("ping, profile, debugBundle") },
  });
});
