import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { NO_SCOPES, SCOPE_LEVELS, SCOPE_RESOURCES, scopesOf } from "../token-scopes.ts";

export type CreateTokenDialogProps = {
  readonly onClose: () => void;
  /** Gets the secret, which is shown once. */
  readonly onCreated: (secret: string) => void;
};

/** Name, scopes, lifetime. */
export function CreateTokenDialog({ onClose, onCreated }: CreateTokenDialogProps): ReactNode {
  const text = pageStrings.access;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [name, setName] = useState("");
  const [levels, setLevels] = useState(NO_SCOPES);
  const [lifetime, setLifetime] = useState<Lifetime>("month");
  const create = useMutation(trpc.tokens.create.mutationOptions());
  const scopes = scopesOf(levels);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (scopes.length === 0) return;
    const expiresInSeconds = LIFETIME_SECONDS[lifetime];
    create.mutate(
      { name: name.trim(), scopes, ...(expiresInSeconds === null ? {} : { expiresInSeconds }) },
      {
        onSuccess: (created) => {
          void queryClient.invalidateQueries({ queryKey: trpc.tokens.list.queryKey() });
          onCreated(created.token);
        },
      },
    );
  };

  return (
    <Dialog title={text.createTitle} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField
          label={text.name}
          hint={text.nameHint}
          value={name}
          onChange={setName}
          isRequired
          focus="first"
          maxLength={100}
          autoComplete="off"
        />
        <fieldset className="scopes">
          <legend>{text.scopes}</legend>
          {SCOPE_RESOURCES.map((resource) => (
            <div key={resource} className="scope">
              <span aria-hidden="true">{text.resources[resource]}</span>
              <Select
                label={text.resources[resource]}
                labelLook="hidden"
                value={levels[resource]}
                onChange={(level) => setLevels({ ...levels, [resource]: level })}
                options={SCOPE_LEVELS.map((value) => ({ value, label: text.levels[value] }))}
              />
            </div>
          ))}
        </fieldset>
        <Select
          label={text.expires}
          value={lifetime}
          onChange={setLifetime}
          options={LIFETIMES.map((value) => ({ value, label: text.lifetimes[value] }))}
        />
        {create.error ? <ProblemPanel problem={toProblem(create.error)} /> : null}
        <DialogActions>
          {scopes.length === 0 ? <span className="soft dialog-note">{text.needScope}</span> : null}
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isDisabled={scopes.length === 0} isPending={create.isPending}>
            {text.submit}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

type Lifetime = "day" | "month" | "year" | "never";

const LIFETIMES: readonly Lifetime[] = ["day", "month", "year", "never"];
const LIFETIME_SECONDS: Record<Lifetime, number | null> = {
  day: 86_400,
  month: 2_592_000,
  year: 31_536_000,
  never: null,
};
