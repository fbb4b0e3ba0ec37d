/** How much work guessing a password would be, in four steps. */
export type PasswordStrength = "short" | "weak" | "fair" | "strong";

/** The shortest password that is accepted. */
export const PASSWORD_LENGTH_MIN = 10;

/**
 * Estimates the strength of a password from its length, its variety and its repetition.
 *
 * It is a hint for the person who types, not a gate: only the length is enforced, here and on the server.
 */
export function passwordStrength(password: string): PasswordStrength {
  const symbols = Array.from(password);
  if (symbols.length < PASSWORD_LENGTH_MIN) return "short";
  const bits = symbols.length * Math.log2(alphabetSize(password)) * variety(symbols);
  if (bits < 50) return "weak";
  return bits < 75 ? "fair" : "strong";
}

function alphabetSize(password: string): number {
  const classes: readonly (readonly [RegExp, number])[] = [
    [/[a-z]/, 26],
    [/[A-Z]/, 26],
    [/\d/, 10],
    [/[^a-zA-Z\d]/, 33],
  ];
  return classes.reduce((size, [pattern, count]) => (pattern.test(password) ? size + count : size), 1);
}

/** Share of symbols that neither repeat nor continue the one before ("aaaa", "abcd", "1234"). */
function variety(symbols: readonly string[]): number {
  let fresh = 1;
  for (let index = 1; index < symbols.length; index += 1) {
    const step = code(symbols[index]) - code(symbols[index - 1]);
    if (Math.abs(step) > 1) fresh += 1;
  }
  return (
    Math.min(1, (fresh / symbols.length) * 1.15) * Math.min(1, (new Set(symbols).size + 2) / symbols.length + 0.35)
  );
}

function code(symbol: string | undefined): number {
  return symbol?.codePointAt(0) ?? 0;
}
