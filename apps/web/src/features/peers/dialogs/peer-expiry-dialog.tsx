import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { useNow } from "../../../ui/clock.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { useNotify } from "../../../ui/notice.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { Select } from "../../../ui/select.tsx";

export type PeerExpiryDialogProps = { readonly peer: Peer; readonly onClose: () => void };

/** Sets when a membership ends; now is one of the choices. */
export function PeerExpiryDialog({ peer, onClose }: PeerExpiryDialogProps): ReactNode {
  const text = strings.peer.expiry;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const nowMs = useNow();
  const [choice, setChoice] = useState<Choice>(peer.state === "expired" ? "never" : "month");
  const update = useMutation(trpc.peers.update.mutationOptions());
  const expire = useMutation(trpc.peers.expire.mutationOptions());
  const error = update.error ?? expire.error;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const onSuccess = (changed: Peer): void => {
      void queryClient.invalidateQueries({ queryKey: trpc.peers.pathKey() });
      notify(changed.state === "expired" ? text.expired(peer.name) : text.done(peer.name));
      onClose();
    };
    if (choice === "now") expire.mutate({ peerId: peer.id }, { onSuccess });
    else update.mutate({ peerId: peer.id, expiresAt: expiryOf(choice, nowMs) }, { onSuccess });
  };

  return (
    <Dialog title={text.dialog(peer.name)} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Select
          label={text.choice}
          value={choice}
          onChange={setChoice}
          options={CHOICES.map((value) => ({ value, label: text.choices[value] }))}
        />
        <p className="soft">{text.hint}</p>
        {error ? <ProblemPanel problem={toProblem(error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button
            type="submit"
            look={choice === "now" ? "danger" : "primary"}
            isPending={update.isPending || expire.isPending}
          >
            {text.set}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

type Choice = "now" | "day" | "month" | "year" | "never";

function expiryOf(choice: Exclude<Choice, "now">, nowMs: number): string | null {
  const days = DAYS[choice];
  return days === null ? null : new Date(nowMs + days * DAY_MS).toISOString();
}

const CHOICES: readonly Choice[] = ["now", "day", "month", "year", "never"];
const DAYS: Record<Exclude<Choice, "now">, number | null> = { day: 1, month: 30, year: 365, never: null };
const DAY_MS = 86_400_000;
