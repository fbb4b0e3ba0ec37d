import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import { letsPass } from "../../api/rule-effect.ts";
import type { Rule } from "../../api/types.ts";
import { pageStrings } from "../../strings/pages.ts";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { useNotify } from "../../ui/notice.tsx";
import { ruleTitle, type SideNames } from "../../api/rule-text.ts";

export type RemoveRuleDialogProps = {
  readonly rule: Rule;
  readonly names: SideNames;
  /** `last`: no other rule lets anything pass. */
  readonly position: "last" | "one-of-many";
  readonly onClose: () => void;
};

/** Deletes a rule; says what stops when it is the last one. */
export function RemoveRuleDialog({ rule, names, position, onClose }: RemoveRuleDialogProps): ReactNode {
  const text = pageStrings.policy;
  const title = ruleTitle(rule, names);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const remove = useMutation(trpc.rules.remove.mutationOptions());

  const confirm = (): void =>
    remove.mutate(
      { ruleId: rule.id },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({ queryKey: trpc.rules.list.queryKey() });
          notify(text.removed);
          onClose();
        },
      },
    );

  return (
    <ConfirmDialog
      title={text.removeTitle(title)}
      consequences={consequences(rule, position)}
      {...(position === "last" ? { nameToType: text.lastRuleWord } : {})}
      action={text.removeAction(title)}
      state={{ isPending: remove.isPending, problem: remove.error ? toProblem(remove.error) : null }}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}

function consequences(rule: Rule, position: RemoveRuleDialogProps["position"]): string {
  const text = pageStrings.policy;
  if (letsPass(rule)) return position === "last" ? text.lastRule : text.notLast;
  return rule.state === "off" ? text.isOff : text.deniesNow;
}
