import type { ReactNode } from "react";
import type { AuditEvent } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Moment } from "../../../ui/moment.tsx";

/** An event whole: who, when, from where, and the object before and after. */
export function EventDialog({
  event,
  onClose,
}: {
  readonly event: AuditEvent;
  readonly onClose: () => void;
}): ReactNode {
  const text = pageStrings.audit;
  return (
    <Dialog title={text.details(event.action)} onClose={onClose}>
      <Facts>
        <Fact name={text.columns.at}>
          <Moment at={event.at} />
        </Fact>
        <Fact name={text.columns.actor}>{event.actor.login ?? text.actors[event.actor.kind]}</Fact>
        <Fact name={text.columns.address}>
          <code>{event.address}</code>
        </Fact>
        <Fact name={text.requestId}>
          <code>{event.requestId}</code>
          <CopyButton text={event.requestId} what={event.requestId} />
        </Fact>
      </Facts>
      <Side title={text.before} value={event.before} />
      <Side title={text.after} value={event.after} />
    </Dialog>
  );
}

function Side({ title, value }: { readonly title: string; readonly value: unknown }): ReactNode {
  return (
    <section className="event-side" aria-label={title}>
      <h3>{title}</h3>
      {value === null || value === undefined ? (
        <p className="soft">{pageStrings.audit.nothing}</p>
      ) : (
        // A long object scrolls in its box, and by keyboard only when the box can have the focus.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <pre tabIndex={0} aria-label={title}>
          {JSON.stringify(value, null, 2)}
        </pre>
      )}
    </section>
  );
}
