import { expect, test } from "vitest";

import { describe } from "./offload.ts";

test.each([
  {
    name: "bytes as GB/s",
    throughput: { Bytes: 1_420 },
    expected: { unit: "GB/s", value: 2.84 },
  },
  { name: "things as ns for each", throughput: { Elements: 50 }, expected: { unit: "ns", value: 10 } },
  { name: "calls as ns for each", throughput: null, expected: { unit: "ns", value: 500 } },
])("a micro-benchmark counts $name", ({ throughput, expected }) => {
  const result = describe({ full_id: "group/one", throughput }, { median: { point_estimate: 500 } });

  expect({ unit: result.unit, value: result.sample.value }).toEqual(expected);
});
