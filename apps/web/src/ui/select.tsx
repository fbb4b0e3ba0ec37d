import { type ReactNode, useId } from "react";
import { Icon } from "./icon.tsx";

export type SelectProps<Value extends string> = {
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  /** `hidden` where the row already names it. */
  readonly labelLook?: "above" | "hidden";
};

/** One of several choices, with the system's own list: it is the best one on phones and for screen readers. */
export function Select<Value extends string>({
  label,
  options,
  value,
  onChange,
  labelLook = "above",
}: SelectProps<Value>): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={labelLook === "hidden" ? "visually-hidden" : ""}>
        {label}
      </label>
      <div className="select-box">
        <select
          id={id}
          value={value}
          onChange={(event) => {
            const chosen = options.find((option) => option.value === event.target.value);
            if (chosen) onChange(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
        <Icon name="chevron" size={16} />
      </div>
    </div>
  );
}
