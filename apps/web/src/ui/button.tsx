import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from "react-aria-components/Button";
import { TooltipTrigger } from "react-aria-components/Tooltip";
import { Icon, type IconName } from "./icon.tsx";
import { Tip } from "./tooltip.tsx";

/** How much a button stands out; at most one `primary` a page. */
export type ButtonLook = "primary" | "secondary" | "quiet" | "danger";

export type ButtonProps = Omit<AriaButtonProps, "className" | "children" | "style"> & {
  readonly look?: ButtonLook;
  readonly icon?: IconName;
  readonly children: ReactNode;
};

/** A button with words. While `isPending` it keeps its width and focus and cannot be pressed again. */
export function Button({ look = "secondary", icon, children, ...rest }: ButtonProps): ReactNode {
  return (
    <AriaButton {...rest} className={`button button-${look}`}>
      {icon ? <Icon name={icon} /> : null}
      <span>{children}</span>
    </AriaButton>
  );
}

export type IconButtonProps = Omit<AriaButtonProps, "className" | "children" | "style" | "aria-label"> & {
  readonly icon: IconName;
  /** The accessible name, shown as a tooltip too. */
  readonly label: string;
};

/** A button that shows only a drawing; its name appears on hover and focus. */
export function IconButton({ icon, label, ...rest }: IconButtonProps): ReactNode {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton {...rest} aria-label={label} className="icon-button">
        <Icon name={icon} />
      </AriaButton>
      <Tip>{label}</Tip>
    </TooltipTrigger>
  );
}
