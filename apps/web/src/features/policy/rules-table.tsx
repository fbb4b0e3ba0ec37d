import type { ReactNode } from "react";
import type { Rule, RuleHits } from "../../api/types.ts";
import { formatBytes, formatCount } from "../../format/bytes.ts";
import { strings } from "../../strings/index.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Moment } from "../../ui/moment.tsx";
import { ruleConditions, ruleSentence, ruleTitle, type SideNames, sideText } from "../../api/rule-text.ts";

export type RulesTableProps = {
  readonly rules: readonly Rule[];
  /** What groups and peers are called, by id. */
  readonly names: SideNames;
  /** What met each rule, by its id; `undefined` until that is known. */
  readonly hits: ReadonlyMap<string, RuleHits> | undefined;
  readonly onSwitch: (rule: Rule) => void;
  readonly onRemove: (rule: Rule) => void;
};

/** The rules in order, and the denial that always comes last. */
export function RulesTable({ rules, ...rowProps }: RulesTableProps): ReactNode {
  const text = pageStrings.policy;
  return (
    <div className="table-frame">
      <table className="table" aria-label={text.table}>
        <thead>
          <tr>
            <th scope="col">{text.columns.order}</th>
            <th scope="col">{text.columns.rule}</th>
            <th scope="col">{text.columns.effect}</th>
            <th scope="col">{text.columns.hits}</th>
            <th scope="col">{text.columns.since}</th>
            <th scope="col" data-align="end" data-look="actions">
              <span className="visually-hidden">{strings.common.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rules.map((rule, index) => (
            <RuleRow key={rule.id} rule={rule} position={index + 1} {...rowProps} />
          ))}
          <tr className="row-fixed">
            <td data-label={text.columns.order}>{rules.length + 1}</td>
            <td data-label={text.columns.rule} className="soft">
              {text.rest}
            </td>
            <td data-label={text.columns.effect}>
              <Chip tone="bad">{text.deny}</Chip>
            </td>
            <td colSpan={3} data-label={text.columns.since} className="soft">
              {text.always}
            </td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

type RuleRowProps = Omit<RulesTableProps, "rules"> & { readonly rule: Rule; readonly position: number };

function RuleRow({ rule, position, names, hits, onSwitch, onRemove }: RuleRowProps): ReactNode {
  const text = pageStrings.policy;
  const conditions = ruleConditions(rule);
  const switchLabel = rule.state === "on" ? text.turnOff : text.turnOn;
  return (
    <tr>
      <td data-label={text.columns.order}>{position}</td>
      <td data-label={text.columns.rule} data-look="title">
        {rule.name === "" ? null : <div dir="auto">{rule.name}</div>}
        <span className="rule">
          <Chip tone="accent">{sideText(rule.source, names)}</Chip>
          <span aria-hidden="true">{text.ways[rule.direction]}</span>
          <Chip tone="accent">{sideText(rule.destination, names)}</Chip>
          {conditions === null ? null : <Chip>{conditions}</Chip>}
        </span>
        <div className="cell-note">{ruleSentence(rule, names)}</div>
        <div className="cell-note">{text.number(rule.number)}</div>
        {rule.description === "" ? null : (
          <div className="cell-note" dir="auto">
            {rule.description}
          </div>
        )}
      </td>
      <td data-label={text.columns.effect}>
        <span className="rule">
          <Chip tone={rule.state === "off" ? "plain" : rule.action === "allow" ? "good" : "bad"}>
            {text[rule.action]}
          </Chip>
          {rule.state === "off" ? <Chip>{text.off}</Chip> : null}
        </span>
        {rule.state === "off" ? <div className="cell-note">{text.offHint}</div> : null}
      </td>
      <td data-label={text.columns.hits}>
        <RuleUse rule={rule} hits={hits} />
      </td>
      <td data-label={text.columns.since}>
        <Moment at={rule.createdAt} />
      </td>
      <td data-align="end" data-look="actions">
        <span className="rule">
          <Button look="quiet" aria-label={switchLabel(ruleTitle(rule, names))} onPress={() => onSwitch(rule)}>
            {rule.state === "on" ? text.turnOffShort : text.turnOnShort}
          </Button>
          <IconButton icon="trash" label={text.removeLabel(ruleTitle(rule, names))} onPress={() => onRemove(rule)} />
        </span>
      </td>
    </tr>
  );
}

/** How much a rule is used; one that nothing ever met is easily seen. */
function RuleUse({ rule, hits }: { readonly rule: Rule } & Pick<RulesTableProps, "hits">): ReactNode {
  const text = pageStrings.policy.use;
  if (hits === undefined) return null;
  const met = hits.get(rule.id);
  if (!met) return <span className="faint">{text.never}</span>;
  return (
    <>
      {text.flows(met.flows)}
      <div className="cell-note">
        {rule.action === "deny" ? text.dropped(formatCount(BigInt(met.drops))) : formatBytes(met.bytes)}
      </div>
      {met.lastHitAt === null ? null : (
        <div className="cell-note">
          <Moment at={met.lastHitAt} />
        </div>
      )}
    </>
  );
}
