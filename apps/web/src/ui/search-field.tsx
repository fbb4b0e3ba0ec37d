import { type ReactNode, useEffect, useState } from "react";
import { Button } from "react-aria-components/Button";
import { Input } from "react-aria-components/Input";
import { SearchField as AriaSearchField } from "react-aria-components/SearchField";
import { strings } from "../strings/index.ts";
import { Icon } from "./icon.tsx";

export type SearchFieldProps = {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

/** A search box. It keeps its own text while one types and reports it a moment later. */
export function SearchField({ label, placeholder, value, onChange }: SearchFieldProps): ReactNode {
  const [draft, setDraft] = useState({ text: value, from: value });
  const text = draft.from === value ? draft.text : value;

  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);

  return (
    <AriaSearchField
      aria-label={label}
      className="search"
      value={text}
      onChange={(next) => setDraft({ text: next, from: value })}
    >
      <Icon name="search" size={16} />
      <Input placeholder={placeholder} dir="auto" />
      <Button className="icon-button" aria-label={strings.common.clearSearch}>
        <Icon name="close" size={14} />
      </Button>
    </AriaSearchField>
  );
}

const TYPING_MS = 200;
