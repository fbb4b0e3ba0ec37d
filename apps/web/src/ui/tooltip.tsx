import { type ReactNode, useId } from "react";
import { Button } from "react-aria-components/Button";
import { Tooltip, TooltipTrigger } from "react-aria-components/Tooltip";

/** The small box a tooltip trigger shows on hover and focus. */
export function Tip({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <Tooltip className="tip" offset={6}>
      {children}
    </Tooltip>
  );
}

/** A word with its meaning, which shows on hover and focus and is read as its description. */
export function Explained({ help, children }: { readonly help: string; readonly children: ReactNode }): ReactNode {
  const id = useId();
  return (
    <>
      <TooltipTrigger delay={500}>
        <Button className="explained" aria-describedby={id}>
          {children}
        </Button>
        <Tip>{help}</Tip>
      </TooltipTrigger>
      <span id={id} hidden>
        {help}
      </span>
    </>
  );
}
