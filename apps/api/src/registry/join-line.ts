/**
 * The command that installs the agent on a host and joins it; every part is shell-safe by its own alphabet. The digest of the
 * script is in the line, and the script holds that of the archive, so what runs as root is what this server made even when
 * the way to it is not encrypted. The star stands for the second of two blanks, which copying from a page can lose. `mktemp` makes a file that no other user of the host can write or replace.
 */
export function installLine(baseUrl: string, key: string, scriptDigest: string): string {
  const script = '"$f"';
  return [
    "f=$(mktemp)",
    `curl -fsS ${baseUrl}/install.sh -o ${script}`,
    `echo "${scriptDigest} *$f" | sha256sum -c`,
    `sh ${script} ${key}`,
  ].join(" && ");
}

/** The command for a host that has the agent already. */
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
