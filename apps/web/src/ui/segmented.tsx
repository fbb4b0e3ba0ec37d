import type { ReactNode } from "react";
import { ToggleButton } from "react-aria-components/ToggleButton";
import { ToggleButtonGroup } from "react-aria-components/ToggleButtonGroup";

export type SegmentedProps<Value extends string> = {
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly label: ReactNode }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
};

/** A few exclusive choices side by side. */
export function Segmented<Value extends string>({ label, options, value, onChange }: SegmentedProps<Value>): ReactNode {
  return (
    <ToggleButtonGroup
      aria-label={label}
      className="segmented"
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => {
        const chosen = options.find((option) => keys.has(option.value));
        if (chosen) onChange(chosen.value);
      }}
    >
      {options.map((option) => (
        <ToggleButton key={option.value} id={option.value} className="segment">
          {option.label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}
