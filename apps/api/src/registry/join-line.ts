/** The command that joins a host; every part is shell-safe by its own alphabet. */
export function joinLine(baseUrl: string, key: string): string {
  return `weft join ${baseUrl} ${key}`;
}

/**
 * The URL for a join line. A dashboard that was opened on the server itself is known there as "localhost", which would
 * lead other hosts to themselves: the machine's own address takes its place where the server can be reached by it.
 */
export function joinUrl(urls: {
  readonly publicUrl: string | undefined;
  readonly baseUrl: string;
  readonly reachableHost: string | undefined;
}): string {
  if (urls.publicUrl !== undefined) return urls.publicUrl;
  const url = new URL(urls.baseUrl);
  if (urls.reachableHost === undefined || !LOOPBACK.test(url.hostname)) return urls.baseUrl;
  url.hostname = urls.reachableHost;
  return url.origin;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
