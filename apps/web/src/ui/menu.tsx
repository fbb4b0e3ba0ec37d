import type { ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { Menu as AriaMenu, MenuItem as AriaMenuItem, MenuTrigger, Popover } from "react-aria-components/Menu";
import { Icon, type IconName } from "./icon.tsx";

export type MenuAction = {
  readonly id: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly tone?: "plain" | "danger";
  readonly onAction: () => void;
};

export type MenuProps = {
  /** Accessible name of the button and the list. */
  readonly label: string;
  readonly trigger: ReactNode;
  readonly look?: "icon" | "text";
  readonly actions: readonly MenuAction[];
  /** The id that carries a check mark, in a menu that chooses. */
  readonly chosen?: string;
};

/** A button that opens a list of actions. */
export function Menu({ label, trigger, look = "icon", actions, chosen }: MenuProps): ReactNode {
  return (
    <MenuTrigger>
      <AriaButton aria-label={label} className={look === "icon" ? "icon-button" : "menu-button"}>
        {trigger}
      </AriaButton>
      <Popover className="popover" placement="bottom end">
        <AriaMenu aria-label={label} className="menu">
          {actions.map((action) => (
            <AriaMenuItem
              key={action.id}
              id={action.id}
              textValue={action.label}
              onAction={action.onAction}
              className={`menu-item menu-item-${action.tone ?? "plain"}`}
            >
              {action.icon ? <Icon name={action.icon} size={16} /> : null}
              <span dir="auto">{action.label}</span>
              {chosen === action.id ? <Icon name="check" size={16} /> : null}
            </AriaMenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
