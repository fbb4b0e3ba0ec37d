export const chart = {
  now: "now",
  gap: "no data",
  table: "Last values as a table",
  time: "Time",
  empty: "No sample yet. The first comes within two seconds of an agent's report.",
  trend: (name: string, rx: string, tx: string) => `Last minute of ${name}: receives ${rx}, sends ${tx}`,
};
