import { TRPCClientError } from "@trpc/client";
import { expect, test } from "vitest";
import { statusOf, toProblem } from "./error-text.ts";

function refused(status: number, code: string, detail: string): TRPCClientError<never> {
  const problem = { status, code, detail, requestId: "req_7" };
  return TRPCClientError.from({
    error: { code: -32_000, message: code, data: { code: "X", httpStatus: status, problem } },
  });
}

test("UI-9 a refusal shows the server's sentence, its code and the request id", () => {
  expect(toProblem(refused(422, "range_exhausted", "The range has no free address."))).toEqual({
    sentence: "The range has no free address.",
    code: "range_exhausted",
    requestId: "req_7",
    retry: "useless",
  });
});

test("a code of the catalogue is worded by the catalogue", () => {
  expect(toProblem(refused(401, "login_failed", "no")).sentence).toBe("User name or password is wrong.");
});

test.each([
  { status: 400, retry: "useless" },
  { status: 404, retry: "useless" },
  { status: 429, retry: "helps" },
  { status: 500, retry: "helps" },
  { status: 503, retry: "helps" },
])("a retry of $status $retry", ({ status, retry }) => {
  expect(toProblem(refused(status, "x", "y")).retry).toBe(retry);
});

test("no answer at all is named as such", () => {
  const lost = TRPCClientError.from(new TypeError("Failed to fetch"));

  expect(toProblem(lost)).toMatchObject({ code: "server_unreachable", retry: "helps", requestId: null });
  expect(statusOf(lost)).toBeNull();
});

test("an error of the page itself is not blamed on the server", () => {
  expect(toProblem(new Error("undefined is not a function")).code).toBe("page_failed");
});
