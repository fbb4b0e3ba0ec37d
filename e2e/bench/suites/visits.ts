/** One measurement of a run: which case, by whom, in which round. */
export type Visit = { readonly round: number; readonly caseName: string; readonly contender: string };

export type VisitPlan = {
  /** Cases in their order; neighbours of the same group are measured close together, because ratios compare them. */
  readonly cases: readonly { readonly name: string; readonly group: string }[];
  readonly contenders: readonly string[];
  readonly rounds: number;
  readonly wants: (caseName: string, contender: string) => boolean;
};

/**
 * Puts all measurements in order.
 *
 * Group after group; in each all rounds; in a round every contender in turn runs all cases of the group. Every other
 * round goes backwards, so that a machine that slowly gets faster or slower favours nobody.
 */
export function planVisits({ cases, contenders, rounds, wants }: VisitPlan): Visit[] {
  const turns = Array.from({ length: rounds }, (_, index) => index + 1);
  return groupNeighbours(cases).flatMap((group) =>
    turns.flatMap((round) => {
      const visits = contenders.flatMap((contender) =>
        group.filter((name) => wants(name, contender)).map((caseName) => ({ round, caseName, contender })),
      );
      return round % 2 === 0 ? visits.toReversed() : visits;
    }),
  );
}

function groupNeighbours(cases: VisitPlan["cases"]): string[][] {
  const groups: { group: string; names: string[] }[] = [];
  for (const { name, group } of cases) {
    const last = groups.at(-1);
    if (last?.group === group) last.names.push(name);
    else groups.push({ group, names: [name] });
  }
  return groups.map(({ names }) => names);
}
