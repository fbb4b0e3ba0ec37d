import { type ReactNode, useState } from "react";
import type { NameRecord } from "../../../api/types.ts";
import { RECORD_TYPES, type RecordType } from "../../../routes.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { FormDialog } from "../components/form-dialog.tsx";
import { useSaveRecord } from "../use-names.ts";

export type RecordDialogProps = {
  readonly networkId: string;
  readonly domain: string;
  /** The record to change; null adds one. */
  readonly record: NameRecord | null;
  readonly onClose: () => void;
};

/** Gives a name to an address or to another name. */
export function RecordDialog({ networkId, domain, record, onClose }: RecordDialogProps): ReactNode {
  const text = pageStrings.records.form;
  const [name, setName] = useState(record?.name ?? "");
  const [type, setType] = useState<RecordType>(record?.type ?? "A");
  const [value, setValue] = useState(record?.value ?? "");
  const [ttl, setTtl] = useState(String(record?.ttlSeconds ?? 10));
  const [description, setDescription] = useState(record?.description ?? "");
  const save = useSaveRecord({ networkId, record }, onClose);
  const ttlSeconds = /^\d{1,5}$/.test(ttl.trim()) ? Number(ttl) : 0;
  const isTtl = ttlSeconds >= 1 && ttlSeconds <= 86_400;
  const isReady = name.trim() !== "" && value.trim() !== "" && isTtl;

  return (
    <FormDialog
      title={record ? pageStrings.names.edit(`${record.name} ${record.type}`) : pageStrings.records.add}
      isReady={isReady}
      change={save}
      onSave={() => save.mutate({ name: name.trim(), type, value: value.trim(), ttlSeconds, description })}
      onClose={onClose}
    >
      <TextField
        label={text.name}
        hint={text.nameHint(domain)}
        value={name}
        onChange={setName}
        maxLength={201}
        face="mono"
        focus="first"
        isRequired
        autoComplete="off"
        spellCheck="false"
      />
      <Select
        label={pageStrings.records.type}
        value={type}
        onChange={setType}
        options={RECORD_TYPES.map((known) => ({ value: known, label: known }))}
      />
      <TextField
        label={text.value}
        hint={text.valueHints[type]}
        value={value}
        onChange={setValue}
        maxLength={201}
        face="mono"
        isRequired
        autoComplete="off"
        spellCheck="false"
      />
      <TextField
        label={text.ttl}
        hint={text.ttlHint}
        error={isTtl ? null : text.ttlWrong}
        value={ttl}
        onChange={setTtl}
        inputMode="numeric"
        face="mono"
        autoComplete="off"
      />
      <TextField
        label={pageStrings.names.description}
        value={description}
        onChange={setDescription}
        maxLength={1_000}
        autoComplete="off"
      />
    </FormDialog>
  );
}
