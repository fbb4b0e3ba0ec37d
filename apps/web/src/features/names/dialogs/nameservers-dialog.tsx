import { type ReactNode, useState } from "react";
import type { Group, Nameservers } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { FormDialog } from "../components/form-dialog.tsx";
import { GroupBoxes } from "../components/group-boxes.tsx";
import { readList, useSaveNameservers } from "../use-names.ts";

export type NameserversDialogProps = {
  readonly networkId: string;
  /** What to change; null adds. */
  readonly group: Nameservers | null;
  readonly groups: readonly Group[];
  readonly onClose: () => void;
};

/** Says which servers are asked about which domains, in which order and by whom. */
export function NameserversDialog({ networkId, group, groups, onClose }: NameserversDialogProps): ReactNode {
  const text = pageStrings.servers.form;
  const [name, setName] = useState(group?.name ?? "");
  const [serversText, setServers] = useState(group?.servers.join(", ") ?? "");
  const [domainsText, setDomains] = useState(group?.domains.join(", ") ?? "");
  const [groupIds, setGroupIds] = useState<string[]>(group?.groupIds ?? []);
  const [state, setState] = useState<Nameservers["state"]>(group?.state ?? "on");
  const [description, setDescription] = useState(group?.description ?? "");
  const save = useSaveNameservers({ networkId, group }, onClose);
  const servers = readList(serversText);
  const domains = readList(domainsText);
  const isReady = name.trim() !== "" && servers.length >= 1 && servers.length <= 8 && domains.length <= 50;

  return (
    <FormDialog
      title={group ? pageStrings.names.edit(group.name) : pageStrings.servers.add}
      isReady={isReady}
      change={save}
      onSave={() => save.mutate({ name: name.trim(), description, servers, domains, groupIds, state })}
      onClose={onClose}
    >
      <TextField
        label={text.name}
        value={name}
        onChange={setName}
        maxLength={63}
        focus="first"
        isRequired
        autoComplete="off"
      />
      <TextField
        label={text.servers}
        hint={text.serversHint}
        error={servers.length > 8 ? text.serversWrong : null}
        value={serversText}
        onChange={setServers}
        face="mono"
        isRequired
        autoComplete="off"
        spellCheck="false"
      />
      <TextField
        label={text.domains}
        hint={text.domainsHint}
        error={domains.length > 50 ? text.domainsWrong : null}
        value={domainsText}
        onChange={setDomains}
        face="mono"
        autoComplete="off"
        spellCheck="false"
      />
      {domains.length === 0 ? <p className="soft">{text.everything}</p> : null}
      <GroupBoxes label={text.groups} hint={text.groupsHint} groups={groups} chosen={groupIds} onChange={setGroupIds} />
      <TextField
        label={pageStrings.names.description}
        value={description}
        onChange={setDescription}
        maxLength={1_000}
        autoComplete="off"
      />
      <Checkbox isSelected={state === "on"} onChange={(isOn) => setState(isOn ? "on" : "off")}>
        {text.on}
      </Checkbox>
    </FormDialog>
  );
}
