import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import type { Peer, Route } from "../../../api/types.ts";
import { LazyPeerPicker } from "../../../layout/lazy-peer-picker.tsx";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { Segmented } from "../../../ui/segmented.tsx";
import { Select } from "../../../ui/select.tsx";
import { peerName, type PeersById } from "../route-text.ts";
import { type ExitChoice, useExitChoice } from "../use-exit-choice.ts";

export type ChooseExitDialogProps = {
  readonly networkId: string;
  /** Whose choice is changed; null to choose whose, too. */
  readonly peer: Peer | null;
  readonly peers: PeersById;
  /** Approved routes to everything. */
  readonly exits: readonly Route[];
  readonly onClose: () => void;
};

/** Says through whom the other traffic of one peer, or of all peers of a group, leaves. */
export function ChooseExitDialog({ networkId, peer, peers, exits, onClose }: ChooseExitDialogProps): ReactNode {
  const text = pageStrings.exits.dialog;
  const [kind, setKind] = useState<Kind>("peer");
  const [peerId, setPeerId] = useState(peer?.id);
  const [groupId, setGroupId] = useState(NOBODY);
  const [choice, setChoice] = useState<ExitDraft>(() => draftOf(peer, exits));
  const save = useExitChoice(onClose);
  const whom = kind === "peer" ? one(peers, peerId) : membersOf(peers, groupId, choice.exitPeerId);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (whom.length === 0) return;
    const { exitPeerId, lan, lost } = choice;
    save.mutate({ whom, choice: { exitPeerId: exitPeerId === NOBODY ? null : exitPeerId, lan, lost } });
  };

  return (
    <Dialog title={peer ? pageStrings.exits.change(peer.name) : text.title} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        {peer ? null : (
          <Segmented label={text.whom} value={kind} onChange={setKind} options={options(KINDS, text.kinds)} />
        )}
        {peer ? null : kind === "peer" ? (
          <LazyPeerPicker networkId={networkId} label={text.peer} peerId={peerId} onChoose={setPeerId} />
        ) : (
          <GroupField networkId={networkId} groupId={groupId} onChange={setGroupId} />
        )}
        {kind === "group" && groupId !== NOBODY ? <p className="soft">{text.groupNote(whom.length)}</p> : null}
        <ChoiceFields choice={choice} exits={exits} peers={peers} onChange={setChoice} />
        {save.data && save.data.refused.length > 0 ? (
          <ul className="refusals">
            {save.data.refused.map(({ peer: refused, problem }) => (
              <li key={refused.id}>
                <strong dir="auto">{refused.name}</strong>
                <ProblemPanel problem={problem} />
              </li>
            ))}
          </ul>
        ) : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={save.isPending} isDisabled={whom.length === 0}>
            {text.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

type GroupFieldProps = {
  readonly networkId: string;
  readonly groupId: string;
  readonly onChange: (groupId: string) => void;
};

function GroupField({ networkId, groupId, onChange }: GroupFieldProps): ReactNode {
  const text = pageStrings.exits.dialog;
  const trpc = useTRPC();
  const groups = useQuery(trpc.groups.list.queryOptions({ networkId, limit: 500 })).data?.items ?? [];
  return (
    <Select
      label={text.group}
      value={groupId}
      onChange={onChange}
      options={[{ value: NOBODY, label: text.noGroup }, ...groups.map(({ id, name }) => ({ value: id, label: name }))]}
    />
  );
}

type ChoiceFieldsProps = {
  readonly choice: ExitDraft;
  readonly exits: readonly Route[];
  readonly peers: PeersById;
  readonly onChange: (choice: ExitDraft) => void;
};

function ChoiceFields({ choice, exits, peers, onChange }: ChoiceFieldsProps): ReactNode {
  const text = pageStrings.exits.dialog;
  const nodes = new Set(exits.map(({ peerId }) => peerId));
  // A choice whose exit node was removed stays one until another is made; it must not look like another.
  if (choice.exitPeerId !== NOBODY) nodes.add(choice.exitPeerId);
  return (
    <>
      <Select
        label={text.exit}
        value={choice.exitPeerId}
        onChange={(exitPeerId) => onChange({ ...choice, exitPeerId })}
        options={[
          { value: NOBODY, label: text.none },
          ...[...nodes].map((id) => ({ value: id, label: peerName(peers, id) })),
        ]}
      />
      {choice.exitPeerId === NOBODY ? null : (
        <>
          <Select
            label={text.lan}
            value={choice.lan}
            onChange={(lan) => onChange({ ...choice, lan })}
            options={options(LAN, text.lanOptions)}
          />
          <Select
            label={text.lost}
            value={choice.lost}
            onChange={(lost) => onChange({ ...choice, lost })}
            options={options(LOST, text.lostOptions)}
          />
          {choice.lost === "direct" ? <p className="soft">{text.directWarning}</p> : null}
        </>
      )}
    </>
  );
}

/** The choice as it is being made; an empty id is no exit node. */
type ExitDraft = {
  readonly exitPeerId: string;
  readonly lan: NonNullable<ExitChoice["lan"]>;
  readonly lost: NonNullable<ExitChoice["lost"]>;
};

function draftOf(peer: Peer | null, exits: readonly Route[]): ExitDraft {
  if (peer?.exit) return { exitPeerId: peer.exit.peerId, lan: peer.exit.lan, lost: peer.exit.lost };
  return { exitPeerId: exits[0]?.peerId ?? NOBODY, lan: "reachable", lost: "blocked" };
}

/** A peer that was found by search may be missing in what the page knows; the server knows it. */
function one(peers: PeersById, peerId: string | undefined) {
  return peerId === undefined ? [] : [{ id: peerId, name: peerName(peers, peerId) }];
}

/** Peers of a group, without the exit node itself: it keeps its own way. */
function membersOf(peers: PeersById, groupId: string, exitPeerId: string): readonly Peer[] {
  return [...peers.values()].filter(({ id, groupIds }) => groupIds.includes(groupId) && id !== exitPeerId);
}

function options<Value extends string>(values: readonly Value[], labels: Readonly<Record<Value, string>>) {
  return values.map((value) => ({ value, label: labels[value] }));
}

type Kind = "peer" | "group";

const NOBODY: string = "";
const KINDS: readonly Kind[] = ["peer", "group"];
const LAN: readonly ExitDraft["lan"][] = ["reachable", "blocked"];
const LOST: readonly ExitDraft["lost"][] = ["blocked", "direct"];
