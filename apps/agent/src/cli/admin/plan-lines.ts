import type { Operations } from "@weft/client";

import { isRecord } from "../../state/state-store.ts";
import { cell } from "./answer-lines.ts";

type Plan = Operations["configuration.plan"]["output"];
type Change = Plan["changes"][number];
type Secret = Operations["configuration.apply"]["output"]["secrets"][number];

/** A plan for a person: one line for each change, what is different below it. */
export function planLines({ changes, counts, faults, tag }: Plan): string[] {
  const sum = [
    `${counts.create} to create, ${counts.update} to change, ${counts.delete} to delete`,
    ...(counts.kept > 0 ? [`${counts.kept} not in the file and kept (--prune deletes them)`] : []),
    ...(counts.skipped > 0 ? [`${counts.skipped} skipped`] : []),
  ];
  return [
    ...changes.flatMap(changeLines),
    ...faults.map(({ path, code, message }) => `fault: ${cell(path)}: ${cell(message)} (${code})`),
    sum.join("; "),
    `tag ${tag}`,
  ];
}

function changeLines(change: Change): string[] {
  const { action, kind, network, name, state, reason, dangers } = change;
  const path = [network, kind, name].filter((part) => part !== null && part !== "").join("/");
  const sign = state === "planned" ? SIGNS[action] : " ";
  return [
    `${sign} ${cell(path)}${reason === null ? "" : `  (${cell(reason)})`}`,
    ...(state === "planned" && action === "update" ? differenceLines(change.before, change.after) : []),
    ...(state === "planned" ? dangers : []).map((danger) => `    ! ${cell(danger)}`),
  ];
}

const SIGNS = { create: "+", update: "~", delete: "-" } as const;

/** The fields that differ. */
function differenceLines(before: unknown, after: unknown): string[] {
  if (!isRecord(before) || !isRecord(after)) return [];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .flatMap((name) => {
      const [old, fresh] = [before[name], after[name]];
      if (Array.isArray(old) && Array.isArray(fresh)) return [`    ${name}:`, ...itemLines(old, fresh)];
      return [`    ${name}: ${cell(old)} -> ${cell(fresh)}`];
    });
}

/** What left a list and what came into it. */
function itemLines(before: readonly unknown[], after: readonly unknown[]): string[] {
  const texts = (items: readonly unknown[]) => items.map((item) => cell(item));
  const [old, fresh] = [texts(before), texts(after)];
  const gone = old.filter((item) => !fresh.includes(item)).map((item) => `      - ${item}`);
  const come = fresh.filter((item) => !old.includes(item)).map((item) => `      + ${item}`);
  return gone.length + come.length > 0 ? [...gone, ...come] : ["      another order"];
}

/** Secrets of what is new; they are shown once. */
export function secretLines(secrets: readonly Secret[]): string[] {
  return secrets.flatMap(({ kind, network, name, secret, joinLine }) => [
    `${cell([network, kind, name].filter((part) => part !== null).join("/"))}: ${secret}`,
    ...(joinLine === null ? [] : [`  ${joinLine}`]),
  ]);
}
