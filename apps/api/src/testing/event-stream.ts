import type { Json } from "./rest-client.ts";
import { eventually } from "./simulated-agent.ts";

/** A tRPC subscription read over server-sent events. */
export type EventStream = {
  readonly events: readonly Json[];
  /** Waits for an event that fits and was not waited for yet. */
  readonly next: (fits: (event: Json) => boolean) => Promise<Json>;
  readonly close: () => void;
  /** Resolves when the stream is over. */
  readonly ended: Promise<void>;
};

/** Opens a subscription with a session cookie or an API token. */
export async function subscribe(
  url: string,
  credential: string | { readonly token: string },
  call: { path: string; input: unknown },
): Promise<EventStream> {
  const abort = new AbortController();
  const input = encodeURIComponent(JSON.stringify(call.input));
  const response = await fetch(`${url}/trpc/${call.path}?input=${input}`, {
    headers: {
      accept: "text/event-stream",
      ...(typeof credential === "string" ? { cookie: credential } : { authorization: `Bearer ${credential.token}` }),
    },
    signal: abort.signal,
  });
  const events: Json[] = [];
  const taken = new Set<Json>();
  const read = async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data && !/^event: (ping|connected|return)/m.test(block)) events.push(JSON.parse(data));
      }
    }
  };
  const ended = read().catch(() => undefined);
  return {
    events,
    async next(fits) {
      const found = await eventually("an event", () => events.find((event) => !taken.has(event) && fits(event)));
      taken.add(found);
      return found;
    },
    close: () => abort.abort(),
    ended,
  };
}
