import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { useNotify } from "../../../ui/notice.tsx";
import { LoadingPanel, ProblemPanel } from "../../../ui/panels.tsx";
import { TextField } from "../../../ui/text-field.tsx";

export type PeerGroupsDialogProps = { readonly peer: Peer; readonly onClose: () => void };

/** Says which groups a peer belongs to; a new group can be made on the way. */
export function PeerGroupsDialog({ peer, onClose }: PeerGroupsDialogProps): ReactNode {
  const text = strings.peers.groups;
  const trpc = useTRPC();
  const groups = useQuery(trpc.groups.list.queryOptions({ networkId: peer.networkId, limit: 500 }));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(peer.groupIds));
  const [fresh, setFresh] = useState("");
  const save = useSaveGroups(peer, onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate({ groupIds: [...chosen], fresh: fresh.trim() });
  };
  const choose = (id: string, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const items = groups.data?.items;

  return (
    <Dialog title={text.title(peer.name)} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p className="soft">{text.hint}</p>
        {groups.error ? (
          <ProblemPanel problem={toProblem(groups.error)} onRetry={() => void groups.refetch()} />
        ) : !items ? (
          <LoadingPanel label={strings.peers.columns.groups} />
        ) : items.length === 0 ? (
          <p className="faint">{text.none}</p>
        ) : (
          items.map(({ id, name }) => (
            <Checkbox key={id} isSelected={chosen.has(id)} onChange={(isChosen) => choose(id, isChosen)}>
              <span dir="auto">{name}</span>
            </Checkbox>
          ))
        )}
        <TextField
          label={text.fresh}
          hint={text.freshHint}
          value={fresh}
          onChange={setFresh}
          maxLength={63}
          autoComplete="off"
        />
        {save.error ? <ProblemPanel problem={toProblem(save.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={save.isPending}>
            {text.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Makes the new group first, if one is wanted, then sets all groups of the peer. */
function useSaveGroups(peer: Peer, onDone: () => void) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const create = useMutation(trpc.groups.create.mutationOptions());
  const update = useMutation(trpc.peers.update.mutationOptions());
  return useMutation({
    mutationFn: async ({ groupIds, fresh }: { readonly groupIds: readonly string[]; readonly fresh: string }) => {
      const made = fresh === "" ? [] : [await create.mutateAsync({ networkId: peer.networkId, name: fresh })];
      return update.mutateAsync({ peerId: peer.id, groupIds: [...groupIds, ...made.map(({ id }) => id)] });
    },
    onSuccess: () => {
      notify(strings.peers.groups.saved(peer.name));
      onDone();
    },
    // A group that was made stays made, also when the peer could not be put into it.
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: trpc.groups.pathKey() });
      void queryClient.invalidateQueries({ queryKey: trpc.peers.pathKey() });
    },
  });
}
