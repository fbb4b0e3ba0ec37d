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
import { Select } from "../../../ui/select.tsx";

/** Whether nodes report their flows, how many of them, and for how long those are kept. */
export function FlowsCard({ network }: { readonly network: Network }): ReactNode {
  const text = pageStrings.settings.flows;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [sampling, setSampling] = useState(String(network.flowSampling ?? OFF));
  const [hours, setHours] = useState(String(network.flowKeepHours));
  const save = useMutation(trpc.networks.update.mutationOptions());
  const same = sampling === String(network.flowSampling ?? OFF) && hours === String(network.flowKeepHours);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const flowSampling = Number(sampling) === OFF ? null : Number(sampling);
    save.mutate(
      { networkId: network.id, flowSampling, flowKeepHours: Number(hours) },
      {
        onSuccess: async () => {
          notify(flowSampling === null ? text.turnedOff : text.turnedOn);
          await queryClient.invalidateQueries({ queryKey: trpc.networks.pathKey() });
        },
      },
    );
  };

  return (
    <Card title={text.title} hint={text.hint}>
      <form className="form-line" onSubmit={submit}>
        <Select
          label={text.sampling}
          value={sampling}
          onChange={setSampling}
          options={choices([OFF, 1, 10, 100, 1_000], Number(sampling)).map((value) => ({
            value: String(value),
            label: value === OFF ? text.none : text.oneOf(value),
          }))}
        />
        <Select
          label={text.keep}
          value={hours}
          onChange={setHours}
          options={choices([24, 168, 720], Number(hours)).map((value) => ({
            value: String(value),
            label: text.hours(value),
          }))}
        />
        <Button type="submit" isDisabled={same} isPending={save.isPending}>
          {text.save}
        </Button>
      </form>
      {save.error ? <ProblemPanel problem={toProblem(save.error)} /> : null}
    </Card>
  );
}

/** What was set over the API is on offer as well. */
function choices(usual: readonly number[], present: number): readonly number[] {
  return usual.includes(present) ? usual : [...usual, present].toSorted((one, other) => one - other);
}

const OFF = 0;
