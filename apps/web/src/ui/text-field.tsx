import type { ReactNode } from "react";
import { FieldError } from "react-aria-components/FieldError";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { Text } from "react-aria-components/Text";
import { TextField as AriaTextField, type TextFieldProps as AriaTextFieldProps } from "react-aria-components/TextField";

export type TextFieldProps = Omit<AriaTextFieldProps, "className" | "children" | "style" | "autoFocus"> & {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  readonly face?: "text" | "mono";
  readonly placeholder?: string;
  /** `first` where the page or dialog opens with the cursor in this box. */
  readonly focus?: "first";
  /** A control at the end of the box, such as a show toggle. */
  readonly end?: ReactNode;
};

/** One line of text with its label above and its hint or error below. */
export function TextField({
  label,
  hint,
  error,
  face = "text",
  placeholder,
  end,
  focus,
  ...rest
}: TextFieldProps): ReactNode {
  return (
    <AriaTextField {...rest} isInvalid={Boolean(error)} className="field" {...(focus ? { autoFocus: true } : {})}>
      <Label>{label}</Label>
      <div className={`input-box input-${face}`}>
        <Input {...(placeholder === undefined ? {} : { placeholder })} dir="auto" />
        {end}
      </div>
      {hint ? (
        <Text slot="description" className="field-hint" elementType="div">
          {hint}
        </Text>
      ) : null}
      <FieldError className="field-error">{error}</FieldError>
    </AriaTextField>
  );
}
