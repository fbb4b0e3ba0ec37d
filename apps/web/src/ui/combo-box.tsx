import { type ReactNode, useState } from "react";
import { Button } from "react-aria-components/Button";
import { ComboBox as AriaComboBox } from "react-aria-components/ComboBox";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { ListBox, ListBoxItem } from "react-aria-components/ListBox";
import { Popover } from "react-aria-components/Popover";
import { Text } from "react-aria-components/Text";
import { Icon } from "./icon.tsx";

export type ComboBoxOption = { readonly id: string; readonly label: string; readonly detail?: string };

export type ComboBoxProps = {
  readonly label: string;
  readonly hint?: string;
  readonly emptyText: string;
  /** What fits the text typed so far; the caller searches. */
  readonly options: readonly ComboBoxOption[];
  readonly chosen: ComboBoxOption | null;
  readonly onSearch: (text: string) => void;
  readonly onChoose: (id: string) => void;
};

/** One of many things, found by typing a part of its name. */
export function ComboBox(props: ComboBoxProps): ReactNode {
  const { label, hint, emptyText, options, chosen, onSearch, onChoose } = props;
  const [draft, setDraft] = useState<{ readonly text: string; readonly of: string | null } | null>(null);
  // Something else was chosen, here or by a link: what was typed before is of no use any more.
  const text = draft && draft.of === (chosen?.id ?? null) ? draft.text : (chosen?.label ?? "");
  const type = (next: string): void => {
    setDraft({ text: next, of: chosen?.id ?? null });
    onSearch(next === chosen?.label ? "" : next);
  };

  return (
    <AriaComboBox
      className="field combo"
      items={options}
      inputValue={text}
      onInputChange={type}
      selectedKey={chosen?.id ?? null}
      onSelectionChange={(key) => {
        setDraft(null);
        onSearch("");
        if (typeof key === "string") onChoose(key);
      }}
      menuTrigger="focus"
      allowsEmptyCollection
    >
      <Label>{label}</Label>
      <div className="input-box">
        <Input dir="auto" />
        <Button className="icon-button">
          <Icon name="updown" size={16} />
        </Button>
      </div>
      {hint === undefined ? null : (
        <Text slot="description" className="field-hint" elementType="div">
          {hint}
        </Text>
      )}
      <Popover className="popover combo-list">
        <ListBox<ComboBoxOption> className="menu" renderEmptyState={() => <p className="combo-empty">{emptyText}</p>}>
          {(option) => (
            <ListBoxItem id={option.id} textValue={option.label} className="menu-item">
              <span dir="auto">{option.label}</span>
              {option.detail === undefined ? null : <code className="faint">{option.detail}</code>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaComboBox>
  );
}
