import { expect, test } from "vitest";
import { isWrite } from "./statement-meter.ts";

test.each([
  ['insert into "peers" values ($1)', true],
  [" UPDATE peers set name = $1", true],
  ["delete from peers", true],
  ["with gone as (delete from peers returning id) select * from gone", true],
  ["with new as (select 1) insert into peers select * from new", true],
  ['select "updated_at" from "peers"', false],
  ["with seen as (select deleted_from from peers) select * from seen", false],
  ["select * from peers for update", false],
  ["listen weft_changes", false],
])("%s writes: %s", (statement, expected) => {
  expect(isWrite(statement)).toBe(expected);
});
