import type { ReactNode } from "react";
import { pageStrings } from "../../../strings/pages.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { TextField } from "../../../ui/text-field.tsx";

/** What of a route can be changed, as it is being written. */
export type RouteDraft = { readonly description: string; readonly masquerade: boolean; readonly priority: string };

export type RouteFieldsProps = { readonly draft: RouteDraft; readonly onChange: (draft: RouteDraft) => void };

/** The boxes that adding and editing have in common. */
export function RouteFields({ draft, onChange }: RouteFieldsProps): ReactNode {
  const text = pageStrings.routes.form;
  return (
    <>
      <TextField
        label={text.description}
        value={draft.description}
        onChange={(description) => onChange({ ...draft, description })}
        maxLength={1_000}
        autoComplete="off"
      />
      <TextField
        label={text.priority}
        hint={text.priorityHint}
        error={parsePriority(draft.priority) === null ? text.priorityWrong : null}
        value={draft.priority}
        onChange={(priority) => onChange({ ...draft, priority })}
        inputMode="numeric"
        face="mono"
        autoComplete="off"
      />
      <Checkbox isSelected={draft.masquerade} onChange={(masquerade) => onChange({ ...draft, masquerade })}>
        {text.masquerade}
      </Checkbox>
    </>
  );
}

/** Reads a priority; null when it is none. */
export function parsePriority(text: string): number | null {
  const value = Number(text);
  return /^\d{1,4}$/.test(text.trim()) && value <= 1_000 ? value : null;
}
