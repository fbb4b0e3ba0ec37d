import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Network } from "../../../api/types.ts";
import { paths } from "../../../routes.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useNotify } from "../../../ui/notice.tsx";

/** Deletes the network after its name was typed. */
export function DangerCard({ network }: { readonly network: Network }): ReactNode {
  const text = pageStrings.settings.danger;
  const [dialog, setDialog] = useState<"closed" | "open">("closed");
  const remove = useRemoveNetwork(network);
  return (
    <Card
      title={text.title}
      hint={text.hint}
      tone="danger"
      actions={
        <Button look="danger" icon="trash" onPress={() => setDialog("open")}>
          {text.action(network.name)}
        </Button>
      }
    >
      {dialog === "open" ? (
        <ConfirmDialog
          title={text.action(network.name)}
          consequences={text.consequences(network.name, network.peerCount)}
          nameToType={network.name}
          action={text.action(network.name)}
          state={{ isPending: remove.isPending, problem: remove.error ? toProblem(remove.error) : null }}
          onConfirm={() => remove.mutate({ networkId: network.id })}
          onClose={() => setDialog("closed")}
        />
      ) : null}
    </Card>
  );
}

function useRemoveNetwork(network: Network) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  return useMutation(
    trpc.networks.remove.mutationOptions({
      onSuccess: async () => {
        notify(pageStrings.settings.danger.done(network.name));
        await navigate({ to: paths.home });
        await queryClient.invalidateQueries({ queryKey: trpc.networks.pathKey() });
      },
    }),
  );
}
