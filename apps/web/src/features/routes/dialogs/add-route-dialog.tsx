import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import { LazyPeerPicker } from "../../../layout/lazy-peer-picker.tsx";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { Conflicts } from "../components/conflicts.tsx";
import { parsePriority, type RouteDraft, RouteFields } from "../components/route-fields.tsx";
import { useRouteChanges } from "../use-routes.ts";

export type AddRouteDialogProps = { readonly networkId: string; readonly onClose: () => void };

/** Says that a range lies behind a peer; overlaps are told while one types. */
export function AddRouteDialog({ networkId, onClose }: AddRouteDialogProps): ReactNode {
  const text = pageStrings.routes.form;
  const [peerId, setPeerId] = useState<string>();
  const [prefix, setPrefix] = useState("");
  const [draft, setDraft] = useState<RouteDraft>({ description: "", masquerade: true, priority: "100" });
  const { create } = useRouteChanges(onClose);
  const overlaps = useConflicts(networkId, prefix.trim());
  const priority = parsePriority(draft.priority);
  const isReady = peerId !== undefined && prefix.trim() !== "" && priority !== null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isReady) return;
    const { description, masquerade } = draft;
    create.mutate({ peerId, prefix: prefix.trim(), description, masquerade, priority });
  };

  return (
    <Dialog title={text.addTitle} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <LazyPeerPicker networkId={networkId} label={text.router} peerId={peerId} onChoose={setPeerId} />
        <TextField
          label={text.prefix}
          hint={text.prefixHint}
          error={overlaps.wrong}
          value={prefix}
          onChange={setPrefix}
          maxLength={43}
          face="mono"
          isRequired
          autoComplete="off"
          spellCheck="false"
        />
        <div role="status" className="soft">
          {overlaps.conflicts === undefined ? null : overlaps.conflicts.length === 0 ? (
            text.noConflict
          ) : (
            <Conflicts conflicts={overlaps.conflicts} />
          )}
        </div>
        <RouteFields draft={draft} onChange={setDraft} />
        {create.error ? <ProblemPanel problem={toProblem(create.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={create.isPending} isDisabled={!isReady}>
            {text.add}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Asks what a range would share addresses with, once nobody has typed for a moment. */
function useConflicts(networkId: string, prefix: string) {
  const trpc = useTRPC();
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(prefix), TYPING_MS);
    return () => clearTimeout(timer);
  }, [prefix]);
  const found = useQuery({
    ...trpc.routes.conflicts.queryOptions({ networkId, prefix: asked }, { enabled: asked !== "" }),
    retry: false,
  });
  const isCurrent = asked !== "" && asked === prefix;
  return {
    conflicts: isCurrent ? found.data?.conflicts : undefined,
    wrong: isCurrent && found.error ? toProblem(found.error).sentence : null,
  };
}

const TYPING_MS = 300;
