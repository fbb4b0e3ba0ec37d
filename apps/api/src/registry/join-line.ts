/** The command that joins a host; every part is shell-safe by its own alphabet. */
export function joinLine(baseUrl: string, key: string): string {
  return `weft join ${baseUrl} ${key}`;
}
