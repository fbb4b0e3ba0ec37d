import { expect, test } from "vitest";
import { createPlural } from "./plural.ts";

test("chooses the English form and writes the number with separators", () => {
  const plural = createPlural("en");
  const forms = { one: "# peer", other: "# peers" };

  expect([0, 1, 2, 5_000].map((count) => plural(count, forms))).toEqual([
    "0 peers",
    "1 peer",
    "2 peers",
    "5,000 peers",
  ]);
});

test("follows the rules of a language with more forms", () => {
  const plural = createPlural("pl");
  const forms = { one: "# host", few: "# hosty", many: "# hostów", other: "# hosta" };

  expect([1, 3, 5].map((count) => plural(count, forms))).toEqual(["1 host", "3 hosty", "5 hostów"]);
});
