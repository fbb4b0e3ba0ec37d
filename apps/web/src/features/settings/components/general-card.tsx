import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Network } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { useNotify } from "../../../ui/notice.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { TextField } from "../../../ui/text-field.tsx";

/** Name of the network. */
export function GeneralCard({ network }: { readonly network: Network }): ReactNode {
  const text = pageStrings.settings;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [name, setName] = useState(network.name);
  const rename = useMutation(trpc.networks.update.mutationOptions());
  const same = name.trim() === network.name || name.trim() === "";

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (same) return;
    rename.mutate(
      { networkId: network.id, name: name.trim() },
      {
        onSuccess: async (renamed) => {
          notify(text.renamed(renamed.name));
          await queryClient.invalidateQueries({ queryKey: trpc.networks.pathKey() });
        },
      },
    );
  };

  return (
    <Card title={text.general}>
      <form className="form-line" onSubmit={submit}>
        <TextField label={text.name} value={name} onChange={setName} isRequired maxLength={63} autoComplete="off" />
        <Button type="submit" isDisabled={same} isPending={rename.isPending}>
          {text.rename}
        </Button>
      </form>
      {rename.error ? <ProblemPanel problem={toProblem(rename.error)} /> : null}
    </Card>
  );
}
