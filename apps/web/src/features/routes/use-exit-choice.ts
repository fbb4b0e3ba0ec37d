import { useMutation } from "@tanstack/react-query";
import { useTRPCClient } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import type { Inputs, Peer } from "../../api/types.ts";
import { pageStrings } from "../../strings/pages.ts";
import type { Problem } from "../../ui/panels.tsx";
import { useDone } from "./use-routes.ts";

/** What is chosen, for one peer or for many. */
export type ExitChoice = Omit<Inputs["routes"]["chooseExit"], "peerId">;

/** A peer whose choice the server refused. */
export type RefusedPeer = { readonly peer: Pick<Peer, "id" | "name">; readonly problem: Problem };

/** Sets the exit node of each of these peers, a few at a time; who is refused is told by name, and the others are done. */
export function useExitChoice(onDone: () => void) {
  const client = useTRPCClient();
  const done = useDone(onDone);
  // A list that is half done stays open to show who was refused.
  const partly = useDone(() => undefined);
  return useMutation({
    mutationFn: async ({
      whom,
      choice,
    }: {
      readonly whom: readonly RefusedPeer["peer"][];
      readonly choice: ExitChoice;
    }) => {
      const refused: RefusedPeer[] = [];
      for (let at = 0; at < whom.length; at += AT_ONCE) {
        const some = whom.slice(at, at + AT_ONCE);
        const answers = await Promise.allSettled(
          some.map(({ id }) => client.routes.chooseExit.mutate({ peerId: id, ...choice })),
        );
        for (const [index, peer] of some.entries()) {
          const answer = answers[index];
          if (answer?.status === "rejected") refused.push({ peer, problem: toProblem(answer.reason) });
        }
      }
      return { refused, total: whom.length };
    },
    onSuccess: ({ refused, total }) => {
      if (refused.length === 0) done(pageStrings.exits.saved(total));
      else partly(pageStrings.exits.partly(refused.length, total));
    },
  });
}

/** As many as go into one request. */
const AT_ONCE = 20;
