import { type ReactNode, useState } from "react";
import { PeerPicker } from "../../../layout/peer-picker.tsx";
import { DIAGNOSE_PROTOCOLS, type DiagnoseProtocol, type DiagnoseSearch } from "../../../routes.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { IconButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";

export type QuestionCardProps = {
  readonly networkId: string;
  readonly question: DiagnoseSearch;
  readonly onAsk: (question: DiagnoseSearch) => void;
};

/** From, to, what. Each change asks at once. */
export function QuestionCard({ networkId, question, onAsk }: QuestionCardProps): ReactNode {
  const text = pageStrings.diagnose;
  const { from, to, protocol, port } = question;
  const ask = (change: Draft): void => onAsk(withoutGaps({ from, to, protocol, port, ...change }));

  return (
    <Card title={text.question}>
      <div className="question">
        <PeerPicker networkId={networkId} label={text.from} peerId={from} onChoose={(id) => ask({ from: id })} />
        <IconButton icon="refresh" label={text.swap} onPress={() => ask({ from: to, to: from })} />
        <PeerPicker networkId={networkId} label={text.to} peerId={to} onChoose={(id) => ask({ to: id })} />
        <Select
          label={text.protocol}
          value={protocol ?? "any"}
          onChange={(chosen) =>
            ask({ protocol: chosen === "any" ? undefined : chosen, port: hasPorts(chosen) ? port : undefined })
          }
          options={[
            { value: "any", label: text.anyProtocol },
            ...DIAGNOSE_PROTOCOLS.map((value) => ({ value, label: pageStrings.policy.protocols[value] })),
          ]}
        />
        {hasPorts(protocol ?? "any") ? <PortField port={port} onChange={(next) => ask({ port: next })} /> : null}
      </div>
    </Card>
  );
}

/** A question some parts of which may be open. */
type Draft = { readonly [Part in keyof DiagnoseSearch]: DiagnoseSearch[Part] | undefined };

function withoutGaps({ from, to, protocol, port }: Draft): DiagnoseSearch {
  return {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(port === undefined ? {} : { port }),
  };
}

type PortFieldProps = { readonly port: number | undefined; readonly onChange: (port: number | undefined) => void };

/** Asks when the box is left or Enter is pressed: half a port is another port. */
function PortField({ port, onChange }: PortFieldProps): ReactNode {
  const text = pageStrings.diagnose;
  const [draft, setDraft] = useState(port === undefined ? "" : String(port));
  const value = Number(draft);
  const isWrong = draft !== "" && !(Number.isInteger(value) && value >= 1 && value <= 65_535);
  const commit = (): void => {
    if (!isWrong) onChange(draft === "" ? undefined : value);
  };

  return (
    <TextField
      label={text.port}
      hint={text.portHint}
      value={draft}
      onChange={setDraft}
      onBlur={commit}
      onKeyDown={({ key }) => {
        if (key === "Enter") commit();
      }}
      error={isWrong ? text.portWrong : null}
      inputMode="numeric"
      face="mono"
    />
  );
}

function hasPorts(protocol: DiagnoseProtocol | "any"): boolean {
  return protocol === "tcp" || protocol === "udp" || protocol === "sctp";
}
