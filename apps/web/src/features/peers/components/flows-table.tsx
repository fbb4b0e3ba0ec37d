import type { ReactNode } from "react";
import type { FlowRecord } from "../../../api/types.ts";
import { formatBytes, formatCount } from "../../../format/bytes.ts";
import { strings } from "../../../strings/index.ts";
import { Chip } from "../../../ui/chip.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { RateFigures } from "../../../ui/rate-figures.tsx";

export type FlowsTableProps = {
  readonly label: string;
  readonly flows: readonly FlowRecord[];
  /** What rules and peers are called, by id. */
  readonly names: ReadonlyMap<string, string>;
};

/** Flows, each with its verdict and rule. */
export function FlowsTable({ label, flows, names }: FlowsTableProps): ReactNode {
  const { columns } = strings.flows;
  return (
    <div className="table-frame">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{columns.flow}</th>
            <th scope="col">{columns.verdict}</th>
            <th scope="col">{columns.bytes}</th>
            <th scope="col" data-align="end">
              {columns.drops}
            </th>
            <th scope="col">{columns.last}</th>
          </tr>
        </thead>
        <tbody>
          {flows.map((flow) => (
            <FlowLine key={flow.id} flow={flow} names={names} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FlowLine({ flow, names }: { readonly flow: FlowRecord } & Pick<FlowsTableProps, "names">): ReactNode {
  const text = strings.flows;
  const other = flow.otherPeerId === null ? undefined : names.get(flow.otherPeerId);
  const rule = flow.ruleId === null ? text.noRule : names.get(flow.ruleId) || text.someRule;
  return (
    <tr>
      <td data-label={text.columns.flow} data-look="title">
        <code>{endText(flow.source, flow.sourcePort)}</code> <span aria-label={text.to}>→</span>{" "}
        <code>{endText(flow.destination, flow.destinationPort)}</code>
        <div className="cell-note" dir="auto">
          {text.protocol(flow.protocol, flow.icmpType)}
          {other === undefined ? null : ` · ${text.directions[flow.direction](other)}`}
        </div>
      </td>
      <td data-label={text.columns.verdict}>
        <Chip tone={flow.verdict === "allow" ? "good" : "bad"}>{text.verdicts[flow.verdict]}</Chip>
        <div className="cell-note" dir="auto">
          {rule}
        </div>
      </td>
      <td data-label={text.columns.bytes}>
        <RateFigures rx={formatBytes(flow.rxBytes)} tx={formatBytes(flow.txBytes)} />
      </td>
      <td data-label={text.columns.drops} data-align="end">
        {formatCount(BigInt(flow.drops))}
      </td>
      <td data-label={text.columns.last}>
        <Moment at={flow.lastAt} />
      </td>
    </tr>
  );
}

function endText(address: string, port: number | null): string {
  if (port === null) return address;
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
