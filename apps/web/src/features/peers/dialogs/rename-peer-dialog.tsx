import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { useNotify } from "../../../ui/notice.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { TextField } from "../../../ui/text-field.tsx";

export type RenamePeerDialogProps = { readonly peer: Peer; readonly onClose: () => void };

/** Gives a peer another name. */
export function RenamePeerDialog({ peer, onClose }: RenamePeerDialogProps): ReactNode {
  const text = strings.peers;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [name, setName] = useState(peer.name);
  const rename = useMutation(trpc.peers.update.mutationOptions());
  const wrong = name !== "" && !PEER_NAME.test(name);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (wrong || name === "") return;
    rename.mutate(
      { peerId: peer.id, name },
      {
        onSuccess: (renamed) => {
          void queryClient.invalidateQueries({ queryKey: trpc.peers.pathKey() });
          notify(text.renamed(renamed.name));
          onClose();
        },
      },
    );
  };

  return (
    <Dialog title={text.renameTitle(peer.name)} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField
          label={text.renameLabel}
          hint={text.renameHint}
          error={wrong ? text.renameInvalid : null}
          value={name}
          onChange={setName}
          maxLength={63}
          isRequired
          focus="first"
          autoComplete="off"
        />
        {rename.error ? <ProblemPanel problem={toProblem(rename.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={rename.isPending} isDisabled={wrong || name === ""}>
            {text.rename}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** A name is a DNS label, because peers find each other under it. */
const PEER_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
