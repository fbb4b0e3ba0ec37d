import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { useNotify } from "../../../ui/notice.tsx";

/** Lets a waiting peer in, or does not. */
export function ApprovalButtons({ peer }: { readonly peer: Peer }): ReactNode {
  const text = strings.peers;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const done = (said: string): void => {
    void queryClient.invalidateQueries({ queryKey: trpc.peers.pathKey() });
    notify(said);
  };
  const onError = (error: unknown): void => notify(toProblem(error).sentence);
  const approve = useMutation(
    trpc.peers.approve.mutationOptions({ onSuccess: () => done(text.approved(peer.name)), onError }),
  );
  const reject = useMutation(
    trpc.peers.reject.mutationOptions({ onSuccess: () => done(text.rejected(peer.name)), onError }),
  );
  const isPending = approve.isPending || reject.isPending;
  return (
    <>
      <Button
        look="primary"
        aria-label={text.approveLabel(peer.name)}
        isPending={isPending}
        onPress={() => approve.mutate({ peerId: peer.id })}
      >
        {text.approve}
      </Button>
      <Button
        aria-label={text.rejectLabel(peer.name)}
        isPending={isPending}
        onPress={() => reject.mutate({ peerId: peer.id })}
      >
        {text.reject}
      </Button>
    </>
  );
}
