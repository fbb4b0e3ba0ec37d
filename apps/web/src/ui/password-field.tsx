import { type ReactNode, useState } from "react";
import { strings } from "../strings/index.ts";
import { IconButton } from "./button.tsx";
import { TextField, type TextFieldProps } from "./text-field.tsx";

export type PasswordFieldProps = Omit<TextFieldProps, "type" | "end">;

/** A password box whose content can be shown. */
export function PasswordField(props: PasswordFieldProps): ReactNode {
  const [shown, setShown] = useState(false);
  return (
    <TextField
      {...props}
      type={shown ? "text" : "password"}
      spellCheck="false"
      end={
        <IconButton
          icon={shown ? "eyeOff" : "eye"}
          label={shown ? strings.common.hidePassword : strings.common.showPassword}
          onPress={() => setShown(!shown)}
        />
      }
    />
  );
}
