import { expect, test } from "vitest";
import { createSeries } from "./series.ts";

const point = (second: number, rx = 10) => ({ atMs: second * 1_000, rxBitsPerSecond: rx, txBitsPerSecond: 1 });

test("keeps the newest points", () => {
  const series = createSeries(3);

  for (const second of [1, 2, 3, 4]) series.push(point(second, second));

  expect(series.columns().seconds).toEqual([2, 3, 4]);
  expect(series.columns().rx).toEqual([2, 3, 4]);
});

test("UI-12 a silence becomes a gap, not a line across it", () => {
  const series = createSeries(10);

  for (const second of [1, 2, 9]) series.push(point(second));

  expect(series.columns().rx).toEqual([10, 10, null, 10]);
});

test("a late sample within the tolerance is no gap", () => {
  const series = createSeries(10);

  series.push(point(1));
  series.push(point(3.2));

  expect(series.columns().rx).toEqual([10, 10]);
});

test("a point that is not newer is dropped", () => {
  const series = createSeries(10);

  series.push(point(5));
  series.push(point(5, 99));
  series.push(point(4, 99));

  expect(series.columns().rx).toEqual([10]);
});

test("the history replaces what was there and keeps its gaps", () => {
  const series = createSeries(10);
  series.push(point(100));

  series.load([point(1), point(2), point(18)]);

  expect(series.columns().seconds).toEqual([1, 2, 3, 18]);
  expect(series.columns().rx).toEqual([10, 10, null, 10]);
});

test("a history that begins later leaves what is older: the server may know less than the page", () => {
  const series = createSeries(10);
  for (const second of [1, 2, 3, 4]) series.push(point(second, second));

  series.load([point(3, 30), point(4, 40)]);
  series.load([]);
  series.push(point(5, 50));

  expect(series.columns().seconds).toEqual([1, 2, 3, 4, 5]);
  expect(series.columns().rx).toEqual([1, 2, 30, 40, 50]);
});

test("the past may be coarse without a gap: nodes report every ten seconds while nobody looks", () => {
  const series = createSeries(10);

  series.load([point(1), point(11), point(21)]);
  series.push(point(31));
  series.push(point(41));

  expect(series.columns().rx).toEqual([10, 10, 10, 10, null, 10]);
});
