/** An agent archive that hosts can download. */
export type AgentArchive = {
  /** Architecture as Node.js names it. */
  readonly arch: string;
  /** SHA-256 digest in hex. */
  readonly digest: string;
};

/**
 * Fills the server's address and its archives into the install script. Returns `null` for an address that the script could
 * not quote safely; no real one is like that.
 */
export function fillInstallScript(
  template: string,
  facts: { readonly serverUrl: string; readonly archives: readonly AgentArchive[] },
): string | null {
  if (!SHELL_SAFE_URL.test(facts.serverUrl)) return null;
  const list = facts.archives.map(({ arch, digest }) => `${arch} ${digest}`).join("\n");
  return template.replaceAll("@SERVER_URL@", facts.serverUrl).replaceAll("@ARCHIVES@", list);
}

/** Scheme, host, port and nothing that a shell could read as more. */
const SHELL_SAFE_URL = /^https?:\/\/[A-Za-z0-9.-]+(:\d{1,5})?$|^https?:\/\/\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;
