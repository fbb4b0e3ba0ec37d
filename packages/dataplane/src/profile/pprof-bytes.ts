import { gzipSync } from "node:zlib";
import {
  Function as PprofFunction,
  Label,
  Line,
  Location,
  Profile,
  Sample,
  StringTable,
  ValueType,
} from "pprof-format";
import type { CpuProfile } from "./cpu-profile.ts";

/** The profile as pprof reads it: gzip over protobuf, samples and nanoseconds, the thread as a label. */
export function pprofBytes(profile: CpuProfile): Uint8Array {
  const stringTable = new StringTable();
  const places = createPlaces(stringTable);
  const nanosecondsPerSample = Math.round(1e9 / profile.frequencyHz);
  const threadKey = stringTable.dedup("thread");
  const sample = profile.stacks.map(
    ({ thread, frames, count }) =>
      new Sample({
        locationId: [thread, ...frames].map(places.idOf).toReversed(),
        value: [count, count * nanosecondsPerSample],
        label: [new Label({ key: threadKey, str: stringTable.dedup(thread) })],
      }),
  );
  const valueType = (type: string, unit: string): ValueType =>
    new ValueType({ type: stringTable.dedup(type), unit: stringTable.dedup(unit) });
  const encoded = new Profile({
    sampleType: [valueType("samples", "count"), valueType("cpu", "nanoseconds")],
    sample,
    location: places.locations,
    function: places.functions,
    timeNanos: BigInt(Math.round(profile.startedAtMs)) * 1_000_000n,
    durationNanos: BigInt(Math.round(profile.durationMs)) * 1_000_000n,
    periodType: valueType("cpu", "nanoseconds"),
    period: nanosecondsPerSample,
    stringTable,
  }).encode();
  return gzipSync(encoded);
}

/** One function and one location per name. */
function createPlaces(strings: StringTable): {
  readonly idOf: (name: string) => number;
  readonly locations: Location[];
  readonly functions: PprofFunction[];
} {
  const ids = new Map<string, number>();
  const locations: Location[] = [];
  const functions: PprofFunction[] = [];
  return {
    locations,
    functions,
    idOf(name) {
      const known = ids.get(name);
      if (known !== undefined) return known;
      const id = ids.size + 1;
      ids.set(name, id);
      functions.push(new PprofFunction({ id, name: strings.dedup(name) }));
      locations.push(new Location({ id, line: [new Line({ functionId: id })] }));
      return id;
    },
  };
}
