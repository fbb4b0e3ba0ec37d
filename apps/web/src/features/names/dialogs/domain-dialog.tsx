import { type ReactNode, useState } from "react";
import type { Group, NameSettings } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { FormDialog } from "../components/form-dialog.tsx";
import { GroupBoxes } from "../components/group-boxes.tsx";
import { readList, useSaveSettings } from "../use-names.ts";

export type DomainDialogProps = {
  readonly settings: NameSettings;
  readonly groups: readonly Group[];
  readonly onClose: () => void;
};

/** Changes what names of the network end in; says what that does before it is saved. */
export function DomainDialog({ settings, groups, onClose }: DomainDialogProps): ReactNode {
  const text = pageStrings.domain.form;
  const [domain, setDomain] = useState(settings.domain);
  const [searchText, setSearch] = useState(settings.searchDomains.join(", "));
  const [leftAloneGroupIds, setLeftAlone] = useState<string[]>(settings.leftAloneGroupIds);
  const [state, setState] = useState(settings.state);
  const save = useSaveSettings(onClose);
  const searchDomains = readList(searchText);
  const { networkId } = settings;

  return (
    <FormDialog
      title={text.title}
      isReady={domain.trim() !== "" && searchDomains.length <= 5}
      change={save}
      onSave={() => save.mutate({ networkId, state, domain: domain.trim(), searchDomains, leftAloneGroupIds })}
      onClose={onClose}
    >
      <TextField
        label={text.domain}
        value={domain}
        onChange={setDomain}
        maxLength={201}
        face="mono"
        focus="first"
        isRequired
        autoComplete="off"
        spellCheck="false"
      />
      {domain.trim() === settings.domain ? null : <p role="status">{text.consequences}</p>}
      <TextField
        label={text.search}
        hint={text.searchHint}
        error={searchDomains.length > 5 ? text.searchWrong : null}
        value={searchText}
        onChange={setSearch}
        face="mono"
        autoComplete="off"
        spellCheck="false"
      />
      <GroupBoxes label={text.leftAlone} groups={groups} chosen={leftAloneGroupIds} onChange={setLeftAlone} />
      <Checkbox isSelected={state === "on"} onChange={(isOn) => setState(isOn ? "on" : "off")}>
        {text.on}
      </Checkbox>
      {state === "off" && settings.state === "on" ? <p role="status">{text.offConsequences}</p> : null}
    </FormDialog>
  );
}
