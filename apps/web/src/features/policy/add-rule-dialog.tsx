import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import type { Group, Rule } from "../../api/types.ts";
import { strings } from "../../strings/index.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { useNotify } from "../../ui/notice.tsx";
import { ProblemPanel } from "../../ui/panels.tsx";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { parsePorts } from "./port-text.ts";

type AddRuleDialogProps = {
  readonly networkId: string;
  readonly groups: readonly Group[];
  readonly onClose: () => void;
};

/** Adds a rule between groups. */
export function AddRuleDialog({ networkId, groups, onClose }: AddRuleDialogProps): ReactNode {
  const text = pageStrings.policy.dialog;
  const [name, setName] = useState("");
  const [action, setAction] = useState<Rule["action"]>("allow");
  const [source, setSource] = useState(ALL);
  const [destination, setDestination] = useState(ALL);
  const [direction, setDirection] = useState<Rule["direction"]>("one-way");
  const [protocol, setProtocol] = useState<Protocol>("any");
  const [ports, setPorts] = useState("");
  const add = useAddRule(onClose);
  const hasPorts = protocol === "tcp" || protocol === "udp";
  const ranges = hasPorts ? parsePorts(ports) : null;
  const isWrong = ranges === "unreadable";
  const sides = [
    { value: ALL, label: pageStrings.policy.all },
    ...groups.map(({ id, name: label }) => ({ value: id, label })),
  ];

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (ranges === "unreadable") return;
    add.mutate({
      networkId,
      name,
      action,
      source: selectorOf(source),
      destination: selectorOf(destination),
      direction,
      protocol: protocol === "any" ? null : protocol,
      ports: ranges,
    });
  };

  return (
    <Dialog title={text.title} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField label={text.name} value={name} onChange={setName} maxLength={100} focus="first" autoComplete="off" />
        <Select label={text.action} value={action} onChange={setAction} options={options(ACTIONS, text.actions)} />
        <Select label={text.source} value={source} onChange={setSource} options={sides} />
        <Select label={text.destination} value={destination} onChange={setDestination} options={sides} />
        <Select
          label={text.direction}
          value={direction}
          onChange={setDirection}
          options={options(DIRECTIONS, text.directions)}
        />
        <Select
          label={text.protocol}
          value={protocol}
          onChange={setProtocol}
          options={options(PROTOCOLS, { ...pageStrings.policy.protocols, any: text.anyProtocol })}
        />
        {hasPorts ? (
          <TextField
            label={text.ports}
            hint={text.portsHint}
            error={isWrong ? text.portsWrong : null}
            value={ports}
            onChange={setPorts}
            autoComplete="off"
          />
        ) : null}
        {add.error ? <ProblemPanel problem={toProblem(add.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={add.isPending} isDisabled={isWrong}>
            {text.add}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function useAddRule(onDone: () => void) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  return useMutation(
    trpc.rules.create.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries({ queryKey: trpc.rules.list.queryKey() });
        notify(pageStrings.policy.added);
        onDone();
      },
    }),
  );
}

function selectorOf(id: string): Rule["source"] {
  return id === ALL ? { kind: "all" } : { kind: "group", id };
}

function options<Value extends string>(values: readonly Value[], labels: Readonly<Record<Value, string>>) {
  return values.map((value) => ({ value, label: labels[value] }));
}

type Protocol = NonNullable<Rule["protocol"]> | "any";

const ALL: string = "all";
const ACTIONS: readonly Rule["action"][] = ["allow", "deny"];
const DIRECTIONS: readonly Rule["direction"][] = ["one-way", "both-ways"];
const PROTOCOLS: readonly Protocol[] = ["any", "tcp", "udp", "icmp", "icmpv6", "sctp"];
