import type { ReactNode } from "react";
import { PASSWORD_LENGTH_MIN, type PasswordStrength, passwordStrength } from "../../../format/password-strength.ts";
import { pageStrings } from "../../../strings/pages.ts";

/** Three bars and a word under the password box. */
export function StrengthMeter({ password }: { readonly password: string }): ReactNode {
  const text = pageStrings.setup;
  if (password === "") return text.passwordHint(PASSWORD_LENGTH_MIN);

  const strength = passwordStrength(password);
  const word =
    strength === "short"
      ? text.strength.short(PASSWORD_LENGTH_MIN - Array.from(password).length)
      : text.strength[strength];
  return (
    <span className={`strength strength-${strength}`}>
      <span
        className="strength-bars"
        role="meter"
        aria-label={text.strength.label}
        aria-valuemin={0}
        aria-valuemax={3}
        aria-valuenow={LEVELS[strength]}
        aria-valuetext={word}
      >
        <i />
        <i />
        <i />
      </span>
      <span>{word}</span>
    </span>
  );
}

const LEVELS: Record<PasswordStrength, number> = { short: 0, weak: 1, fair: 2, strong: 3 };
