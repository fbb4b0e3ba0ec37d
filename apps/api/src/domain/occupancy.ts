/** Counts who is inside at a time, for each subject and altogether. */
export type Occupancy = {
  readonly hasRoom: (subject: string) => boolean;
  /** Comes in; call what is returned when it is over, again does nothing. */
  readonly enter: (subject: string) => () => void;
};

/** Keeps counts only of subjects that are inside. */
export function createOccupancy(limits: { readonly perSubject: number; readonly total: number }): Occupancy {
  const inside = new Map<string, number>();
  let total = 0;
  return {
    hasRoom: (subject) => total < limits.total && (inside.get(subject) ?? 0) < limits.perSubject,
    enter(subject) {
      inside.set(subject, (inside.get(subject) ?? 0) + 1);
      total += 1;
      let isInside = true;
      return () => {
        if (!isInside) return;
        isInside = false;
        total -= 1;
        const left = (inside.get(subject) ?? 1) - 1;
        if (left === 0) inside.delete(subject);
        else inside.set(subject, left);
      };
    },
  };
}
