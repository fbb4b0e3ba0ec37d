import type { ReactNode } from "react";
import { QrCode } from "./qr-code.tsx";
import { strings } from "../strings/index.ts";
import { CopyButton } from "./copy-button.tsx";

/** A configuration with its private key: as a code for a phone's camera, as a file, as text. */
export function ClientConfigView({ name, text }: { readonly name: string; readonly text: string }): ReactNode {
  const words = strings.clients;
  return (
    <section className="form" aria-label={words.config}>
      <QrCode text={text} label={words.qr(name)} />
      <div className="join-box">
        <a
          className="button button-primary"
          download={`${name.slice(0, INTERFACE_NAME_MAX)}.conf`}
          href={`data:application/octet-stream;charset=utf-8,${encodeURIComponent(text)}`}
        >
          {words.download}
        </a>
        <CopyButton text={text} what={words.configWhat} look="secondary" />
      </div>
    </section>
  );
}

/** WireGuard names the interface after the file, and the kernel takes no more. */
const INTERFACE_NAME_MAX = 15;
