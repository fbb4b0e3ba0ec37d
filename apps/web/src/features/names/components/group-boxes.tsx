import type { ReactNode } from "react";
import type { Group } from "../../../api/types.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";

type GroupBoxesProps = {
  readonly label: string;
  readonly hint?: string;
  readonly groups: readonly Group[];
  readonly chosen: readonly string[];
  readonly onChange: (ids: string[]) => void;
};

/** Some of the groups of a network; nothing when it has none. */
export function GroupBoxes({ label, hint, groups, chosen, onChange }: GroupBoxesProps): ReactNode {
  if (groups.length === 0) return null;
  return (
    <fieldset className="group-boxes">
      <legend>{label}</legend>
      {hint === undefined ? null : <p className="soft">{hint}</p>}
      {groups.map(({ id, name }) => (
        <Checkbox
          key={id}
          isSelected={chosen.includes(id)}
          onChange={(isChosen) => onChange(isChosen ? [...chosen, id] : chosen.filter((other) => other !== id))}
        >
          <span dir="auto">{name}</span>
        </Checkbox>
      ))}
    </fieldset>
  );
}
