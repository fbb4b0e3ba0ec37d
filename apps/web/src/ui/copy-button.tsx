import { type ReactNode, useEffect, useState } from "react";
import { strings } from "../strings/index.ts";
import { Button, IconButton } from "./button.tsx";
import { copyText } from "./copy-text.ts";

type CopyState = "ready" | "copied" | "failed";

export type CopyButtonProps = {
  /** What lands in the clipboard. */
  readonly text: string;
  /** What it is, in words: "address 10.20.0.1". */
  readonly what: string;
  /** A word beside the drawing, for the one thing a page wants copied. */
  readonly look?: "icon" | "primary" | "secondary";
};

/** Copies a text and says so. Works without a secure context too, because a first set-up often has no TLS. */
export function CopyButton({ text, what, look = "icon" }: CopyButtonProps): ReactNode {
  const [state, setState] = useState<CopyState>("ready");

  useEffect(() => {
    if (state === "ready") return;
    const timer = setTimeout(() => setState("ready"), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);

  const press = (): void => {
    void copyText(text).then((copied) => setState(copied ? "copied" : "failed"));
  };
  const icon = state === "copied" ? "check" : state === "failed" ? "warning" : "copy";
  const label = strings.common.copy[state](what);

  return (
    <span className="copy" data-state={state}>
      {look === "icon" ? (
        <IconButton icon={icon} label={label} onPress={press} />
      ) : (
        <Button look={look} icon={icon} onPress={press} aria-label={label}>
          {strings.common.copyWord[state]}
        </Button>
      )}
      <span className="visually-hidden" role="status">
        {state === "ready" ? "" : label}
      </span>
    </span>
  );
}

const SHOWN_MS = 2_000;
