/**
 * Writes an argument array as a line: literal text is split at white space, and each inserted value stays one argument.
 *
 * An inserted value glued to text, as in `${address}/24`, joins that argument. Nothing is ever quoted or expanded.
 */
export function argv(literals: TemplateStringsArray, ...values: readonly (string | number)[]): string[] {
  const words: string[] = [];
  let open: string | undefined;
  literals.forEach((literal, index) => {
    for (const piece of literal.split(/(\s+)/)) {
      if (piece === "") continue;
      if (piece.trim() === "") {
        if (open !== undefined) words.push(open);
        open = undefined;
      } else {
        open = (open ?? "") + piece;
      }
    }
    const value = values[index];
    if (value !== undefined) open = (open ?? "") + String(value);
  });
  return open === undefined ? words : [...words, open];
}
