import { type FormEvent, type ReactNode, useState } from "react";
import { strings } from "../strings/index.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { type Problem, ProblemPanel } from "./panels.tsx";
import { TextField } from "./text-field.tsx";

export type ConfirmDialogProps = {
  readonly title: string;
  /** What will break, in words. */
  readonly consequences: ReactNode;
  /** The name to type before the button works; absent where a plain "are you sure" is enough. */
  readonly nameToType?: string;
  /** Names its object: "Delete network office". */
  readonly action: string;
  readonly state: { readonly isPending: boolean; readonly problem: Problem | null };
  readonly onConfirm: () => void;
  readonly onClose: () => void;
};

/** Asks before something is destroyed. */
export function ConfirmDialog(props: ConfirmDialogProps): ReactNode {
  const [typed, setTyped] = useState("");
  const agreed = props.nameToType === undefined || typed.trim() === props.nameToType;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (agreed && !props.state.isPending) props.onConfirm();
  };

  return (
    <Dialog title={props.title} onClose={props.onClose} role="alertdialog">
      <form onSubmit={submit} className="form">
        <div className="consequences">{props.consequences}</div>
        {props.nameToType === undefined ? null : (
          <TextField
            label={strings.common.typeToConfirm(props.nameToType)}
            value={typed}
            onChange={setTyped}
            focus="first"
            autoComplete="off"
            spellCheck="false"
          />
        )}
        {props.state.problem ? <ProblemPanel problem={props.state.problem} /> : null}
        <DialogActions>
          <Button onPress={props.onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="danger" isDisabled={!agreed} isPending={props.state.isPending}>
            {props.action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
