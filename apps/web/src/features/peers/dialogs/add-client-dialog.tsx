import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTRPC, useTRPCClient } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Peer } from "../../../api/types.ts";
import { clientConfigText, combineKey, makeClientKeys, makePad } from "../../../format/client-keys.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { ClientConfigView } from "../../../ui/client-config.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemPanel } from "../../../ui/panels.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";

export type AddClientDialogProps = {
  readonly networkId: string;
  /** Nodes that can speak for a client. */
  readonly gateways: readonly Peer[];
  readonly onClose: () => void;
};

/** Adds a static client; its key pair is made here, and its configuration is shown once. */
export function AddClientDialog({ networkId, gateways, onClose }: AddClientDialogProps): ReactNode {
  const text = strings.clients;
  const [name, setName] = useState("");
  const [gateway, setGateway] = useState(gateways.at(0)?.id ?? "");
  const add = useAddClient(networkId);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    add.mutate({ name: name.trim(), gatewayPeerId: gateway });
  };
  if (add.data) return <Added made={add.data} onClose={onClose} />;
  return (
    <Dialog title={text.title} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p className="soft">{text.sentence}</p>
        {gateways.length === 0 ? <p role="alert">{text.noGateway}</p> : null}
        <TextField
          label={text.name}
          hint={text.nameHint}
          value={name}
          onChange={setName}
          isRequired
          maxLength={63}
          focus="first"
          autoComplete="off"
        />
        <Select
          label={text.gateway}
          value={gateway}
          onChange={setGateway}
          options={gateways.map((peer) => ({ value: peer.id, label: peer.name }))}
        />
        {add.data === null ? <p role="alert">{text.noCrypto}</p> : null}
        {add.error ? <ProblemPanel problem={toProblem(add.error)} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isPending={add.isPending} isDisabled={gateways.length === 0}>
            {text.add}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

type Made = { readonly peer: Peer; readonly privateKey: string; readonly config: string };

function Added({ made, onClose }: { readonly made: Made; readonly onClose: () => void }): ReactNode {
  const text = strings.clients;
  const { peer, privateKey, config } = made;
  const link = useClientLink(peer.id, privateKey);
  return (
    <Dialog title={text.addedTitle(peer.name)} onClose={onClose} dismiss="explicit">
      <div className="form">
        <p className="soft">{text.once}</p>
        <ClientConfigView name={peer.name} text={config} />
        {link.error ? <ProblemPanel problem={toProblem(link.error)} /> : null}
        {link.data === undefined ? (
          <Button isPending={link.isPending} onPress={() => link.mutate()}>
            {text.makeLink}
          </Button>
        ) : (
          <div className="join-box">
            <code className="join-command" aria-label={text.link}>
              {link.data}
            </code>
            <CopyButton text={link.data} what={text.link} />
          </div>
        )}
        <p className="soft">{text.linkHint}</p>
        <DialogActions>
          <Button look="primary" onPress={onClose}>
            {strings.common.close}
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}

function useAddClient(networkId: string) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (wanted: { readonly name: string; readonly gatewayPeerId: string }): Promise<Made | null> => {
      const keys = await makeClientKeys();
      if (!keys) return null;
      const peer = await client.clients.create.mutate({ networkId, ...wanted, publicKey: keys.publicKey });
      void queryClient.invalidateQueries({ queryKey: trpc.peers.pathKey() });
      const config = await client.clients.config.query({ peerId: peer.id });
      return { peer, privateKey: keys.privateKey, config: clientConfigText(config, keys.privateKey) };
    },
  });
}

/** The link holds the key combined with a pad that the server gives out once; neither is worth anything alone. */
function useClientLink(peerId: string, privateKey: string) {
  const client = useTRPCClient();
  return useMutation({
    mutationFn: async () => {
      const pad = makePad();
      const { link } = await client.clients.createLink.mutate({ peerId, pad });
      return `${link}.${combineKey(privateKey, pad) ?? ""}`;
    },
  });
}
