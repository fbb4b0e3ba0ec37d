/** Turns the server's join line into what one types on a fresh host: with rights, and without installing anything before. */
export function joinCommand(joinLine: string): string {
  const bare = joinLine.replace(/^(sudo\s+)?(npx\s+(--yes\s+|-y\s+)?)?/, "");
  return `sudo npx ${bare}`;
}
