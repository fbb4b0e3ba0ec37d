import { err, ok, type Result } from "@weft/protocol";

/** Where the control plane listens. */
export type ServerAddress =
  | { readonly kind: "network"; readonly webSocketOrigin: string }
  /** The same routes over a Unix socket on this machine. */
  | { readonly kind: "socket"; readonly path: string };

export type ServerUrlError = { readonly code: "bad_url"; readonly message: string };

/** Reads the URL of a join line: `http://…`, `https://…`, or `unix:/absolute/path`. */
export function parseServerUrl(text: string): Result<ServerAddress, ServerUrlError> {
  if (text.startsWith("unix:")) {
    const path = text.slice("unix:".length).replace(/^\/+/, "/");
    return path.startsWith("/") && !path.includes(":") ? ok({ kind: "socket", path }) : bad(text);
  }
  if (!URL.canParse(text)) return bad(text);
  const url = new URL(text);
  const scheme = SCHEMES.get(url.protocol);
  if (scheme === undefined || url.hostname === "") return bad(text);
  return ok({ kind: "network", webSocketOrigin: `${scheme}//${url.host}${url.pathname.replace(/\/+$/, "")}` });
}

/** Name or address of the server's host; null when it is this one. */
export function serverHost(address: ServerAddress): string | null {
  return address.kind === "network" ? new URL(address.webSocketOrigin).hostname.replace(/^\[|\]$/g, "") : null;
}

/** The URL of the agent stream. */
export function streamUrl(address: ServerAddress, nonce: string): string {
  const path = `/agent/v1?nonce=${nonce}`;
  return address.kind === "network" ? address.webSocketOrigin + path : `ws+unix:${address.path}:${path}`;
}

function bad(text: string): { readonly ok: false; readonly error: ServerUrlError } {
  return err({
    code: "bad_url",
    message: `"${text.slice(0, 200)}" is not a server URL; copy the whole join line from the dashboard`,
  });
}

const SCHEMES: ReadonlyMap<string, string> = new Map([
  ["http:", "ws:"],
  ["https:", "wss:"],
]);
