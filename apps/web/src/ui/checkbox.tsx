import type { ReactNode } from "react";
import { Checkbox as AriaCheckbox, type CheckboxProps as AriaCheckboxProps } from "react-aria-components/Checkbox";
import { Icon } from "./icon.tsx";

export type CheckboxProps = Omit<AriaCheckboxProps, "className" | "children" | "style"> & {
  readonly children: ReactNode;
};

/** A box to tick, with its words. */
export function Checkbox({ children, ...rest }: CheckboxProps): ReactNode {
  return (
    <AriaCheckbox {...rest} className="checkbox">
      <span className="checkbox-box">
        <Icon name="check" size={14} />
      </span>
      <span>{children}</span>
    </AriaCheckbox>
  );
}
