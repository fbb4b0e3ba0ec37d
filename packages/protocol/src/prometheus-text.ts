/** Labels of one sample; values may be any text. */
export type MetricLabels = { readonly [name: string]: string };

/** One metric in the text format that Prometheus reads; nothing when it has no sample. */
export function metricFamily(
  name: string,
  about: { readonly help: string; readonly type: "counter" | "gauge" | "histogram" },
  samples: readonly string[],
): readonly string[] {
  if (samples.length === 0) return [];
  return [`# HELP ${name} ${about.help}`, `# TYPE ${name} ${about.type}`, ...samples.map((text) => name + text)];
}

/** What stands behind a metric's name: labels and value. Label values are escaped: names come from people and nodes. */
export function metricSample(labels: MetricLabels, value: number): string {
  const pairs = Object.entries(labels).map(([name, text]) => `${name}="${escaped(text)}"`);
  return `${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Media type of the format. */
export const METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";
