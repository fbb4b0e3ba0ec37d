import { metricFamily, metricSample } from "@weft/protocol";

/** Counts what the HTTP side answered. Routes come from our own list, so that no caller makes new series. */
export type RequestMeter = {
  readonly note: (answer: { readonly route: string; readonly status: number; readonly milliseconds: number }) => void;
  readonly text: () => readonly string[];
};

export function createRequestMeter(): RequestMeter {
  const answers = new Map<string, { readonly route: string; readonly status: number; count: number }>();
  const buckets = BUCKET_SECONDS.map(() => 0);
  let total = 0;
  let seconds = 0;
  return {
    note({ route, status, milliseconds }) {
      const key = `${status} ${route}`;
      const known = answers.get(key);
      if (known) known.count += 1;
      else answers.set(key, { route, status, count: 1 });
      total += 1;
      seconds += milliseconds / 1_000;
      const place = BUCKET_SECONDS.findIndex((limit) => milliseconds / 1_000 <= limit);
      if (place >= 0) buckets[place] = (buckets[place] ?? 0) + 1;
    },
    text() {
      let below = 0;
      const inBuckets = BUCKET_SECONDS.map((limit, place) => {
        below += buckets[place] ?? 0;
        return `_bucket${metricSample({ le: String(limit) }, below)}`;
      });
      return [
        ...metricFamily(
          "weft_http_answers_total",
          { help: "Answers by route and status.", type: "counter" },
          [...answers.values()].map(({ route, status, count }) =>
            metricSample({ route, status: String(status) }, count),
          ),
        ),
        ...metricFamily("weft_http_answer_seconds", { help: "Time until an answer was sent.", type: "histogram" }, [
          ...inBuckets,
          `_bucket${metricSample({ le: "+Inf" }, total)}`,
          `_sum${metricSample({}, seconds)}`,
          `_count${metricSample({}, total)}`,
        ]),
      ];
    },
  };
}

const BUCKET_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
