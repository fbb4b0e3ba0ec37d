import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC, useTRPCClient } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import { paths } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { useNotify } from "../../../ui/notice.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { TextField } from "../../../ui/text-field.tsx";

type Draft = {
  readonly name: string;
  readonly ipv4: string | null;
  readonly ipv6: string | null;
  readonly rule: "all-to-all" | "none";
};

/** Creates a network with proposed ranges, and with the visible rule "all ↔ all" unless that is unticked. */
export function CreateNetworkDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = strings.networks;
  const trpc = useTRPC();
  const [draft, setDraft] = useState<Draft>({ name: "", ipv4: null, ipv6: null, rule: "all-to-all" });
  const proposal = useQuery({
    ...trpc.networks.propose.queryOptions(),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const create = useCreateNetwork(onClose);
  const ipv4 = draft.ipv4 ?? proposal.data?.ipv4Range ?? "";
  const ipv6 = draft.ipv6 ?? proposal.data?.ipv6Range ?? "";
  const change = (part: Partial<Draft>): void => setDraft({ ...draft, ...part });

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({
      name: draft.name.trim(),
      ipv4Range: ipv4.trim() || null,
      ipv6Range: ipv6.trim() || null,
      rule: draft.rule,
    });
  };

  return (
    <Dialog title={text.createTitle} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField
          label={text.name}
          value={draft.name}
          onChange={(name) => change({ name })}
          isRequired
          focus="first"
          maxLength={63}
          autoComplete="off"
        />
        <div className="form-pair">
          <TextField
            label={text.ipv4}
            value={ipv4}
            onChange={(value) => change({ ipv4: value })}
            face="mono"
            autoComplete="off"
          />
          <TextField
            label={text.ipv6}
            value={ipv6}
            onChange={(value) => change({ ipv6: value })}
            face="mono"
            autoComplete="off"
          />
        </div>
        <p className="field-hint">{text.rangesHint}</p>
        <Checkbox
          isSelected={draft.rule === "all-to-all"}
          onChange={(on) => change({ rule: on ? "all-to-all" : "none" })}
        >
          {text.allowAll}
        </Checkbox>
        {create.error ? <ProblemPanel problem={toProblem(create.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={create.isPending}>
            {text.submit}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

type NewNetwork = {
  readonly name: string;
  readonly ipv4Range: string | null;
  readonly ipv6Range: string | null;
  readonly rule: Draft["rule"];
};

function useCreateNetwork(onClose: () => void) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  return useMutation({
    mutationFn: async ({ rule, ...input }: NewNetwork) => {
      const network = await client.networks.create.mutate(input);
      if (rule === "all-to-all") await client.rules.create.mutate({ networkId: network.id, kind: "all-to-all" });
      return network;
    },
    onSuccess: async (network) => {
      await queryClient.invalidateQueries({ queryKey: trpc.networks.pathKey() });
      notify(strings.networks.created(network.name));
      onClose();
      await navigate({ to: paths.peers, params: { networkId: network.id } });
    },
  });
}
