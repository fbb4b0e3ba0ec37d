/** A caller of the REST surface with a session cookie, as a browser would be. */
export type RestClient = {
  readonly get: (path: string) => Promise<unknown>;
  readonly post: (path: string, body?: unknown) => Promise<unknown>;
  readonly put: (path: string, body: unknown) => Promise<unknown>;
  readonly patch: (path: string, body: unknown) => Promise<unknown>;
  readonly remove: (path: string) => Promise<void>;
  /** Opens a live subscription of the dashboard; every event is handed over as its JSON text until the signal fires. */
  readonly subscribe: (subscription: Subscription, signal: AbortSignal) => Promise<void>;
};

export type Subscription = {
  readonly procedure: string;
  readonly input: unknown;
  readonly onEvent: (json: string) => void;
};

/** Creates a client for one server; `path` arguments start below `/api/v1`. The cookie of the last answer is sent along. */
export function createRestClient(serverUrl: string): RestClient {
  const cookies = new Map<string, string>();
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${serverUrl}/api/v1${path}`, {
      method,
      headers: {
        origin: new URL(serverUrl).origin,
        ...(cookies.size === 0 ? {} : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        // Nobody else changes things meanwhile.
        ...(method === "PATCH" ? { "if-match": "*" } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) cookies.set(name, value);
    }
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${path} was answered with ${String(response.status)}: ${text.slice(0, 500)}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  const subscribe = async ({ procedure, input, onEvent }: Subscription, signal: AbortSignal): Promise<void> => {
    const url = `${serverUrl}/trpc/${procedure}?input=${encodeURIComponent(JSON.stringify(input))}`;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { headers: { accept: "text/event-stream", cookie }, signal });
    if (!response.ok) throw new Error(`${procedure} was answered with ${String(response.status)}`);
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data: ")) onEvent(line.slice("data: ".length));
    }
  };
  return {
    subscribe,
    get: (path) => call("GET", path),
    post: (path, body) => call("POST", path, body ?? {}),
    put: (path, body) => call("PUT", path, body),
    patch: (path, body) => call("PATCH", path, body),
    remove: async (path) => {
      await call("DELETE", path);
    },
  };
}

const REQUEST_MS = 20_000;
