import { type FormEvent, type ReactNode, useState } from "react";
import { toProblem } from "../../../api/error-text.ts";
import type { Group } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { useApproverChanges } from "../use-routes.ts";

export type AddApproverDialogProps = {
  readonly networkId: string;
  readonly groups: readonly Group[];
  readonly onClose: () => void;
};

/** Lets routes of a group's peers into a range need nobody's approval. */
export function AddApproverDialog({ networkId, groups, onClose }: AddApproverDialogProps): ReactNode {
  const text = pageStrings.approvers;
  const [chosen, setChosen] = useState("");
  const [prefix, setPrefix] = useState("");
  const { create } = useApproverChanges(onClose);
  const groupId = chosen === "" ? groups[0]?.id : chosen;
  const range = prefix.trim();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (groupId !== undefined && range !== "") create.mutate({ networkId, groupId, prefix: range });
  };
  return (
    <Dialog title={text.addTitle} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        {groupId === undefined ? (
          <p>{text.noGroups}</p>
        ) : (
          <Select
            label={text.group}
            value={groupId}
            onChange={setChosen}
            options={groups.map(({ id, name }) => ({ value: id, label: name }))}
          />
        )}
        <TextField
          label={text.prefix}
          hint={text.prefixHint}
          value={prefix}
          onChange={setPrefix}
          maxLength={43}
          face="mono"
          isRequired
          autoComplete="off"
          spellCheck="false"
        />
        {range.endsWith("/0") ? <p role="status">{text.everything}</p> : null}
        {create.error ? <ProblemPanel problem={toProblem(create.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button
            type="submit"
            look="primary"
            isPending={create.isPending}
            isDisabled={groupId === undefined || range === ""}
          >
            {text.add}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
