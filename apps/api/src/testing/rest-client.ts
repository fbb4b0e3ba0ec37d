/** One answer of the REST interface. */
type Answer = { readonly status: number; readonly headers: Headers; readonly body: Json };
/** JSON of unknown shape that tests look into; a wrong path fails the test. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on shapes, they do not rely on them
export type Json = any;

export type RestClient = {
  // oxlint-disable-next-line max-params -- reads like a request
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  readonly get: (path: string) => Promise<Answer>;
  readonly post: (path: string, body?: unknown) => Promise<Answer>;
  /** The session cookie, once there is one. */
  readonly cookie: () => string | undefined;
};

/** A browser-like client: keeps its cookie and names its origin. */
export function createRestClient(
  url: string,
  credential: { readonly token?: string; readonly cookie?: string } = {},
): RestClient {
  let cookie = credential.cookie;
  // oxlint-disable-next-line max-params -- reads like a request
  const call: RestClient["call"] = async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        origin: url,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(cookie !== undefined && { cookie }),
        ...(credential.token !== undefined && { authorization: `Bearer ${credential.token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const set = response.headers.get("set-cookie");
    if (set) cookie = set.split(";")[0];
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : text,
    };
  };
  return {
    call,
    get: (path) => call("GET", path),
    post: (path, body) => call("POST", path, body ?? {}),
    cookie: () => cookie,
  };
}

/** Creates the owner and the first network. */
export async function setUp(
  url: string,
): Promise<{ readonly owner: RestClient; readonly network: Json; readonly user: Json }> {
  const owner = createRestClient(url);
  const answer = await owner.post("/api/v1/setup", { login: "olga", password: "correct horse", networkName: "office" });
  if (answer.status !== 201) throw new Error(`set-up failed: ${JSON.stringify(answer.body)}`);
  return { owner, network: answer.body.network, user: answer.body.user };
}

/** Makes an enrolment key and returns what `weft join` would get. */
export async function makeKey(owner: RestClient, networkId: string, input: object = {}): Promise<Json> {
  const answer = await owner.post(`/api/v1/networks/${networkId}/enrolment-keys`, { usesMax: null, ...input });
  if (answer.status !== 201) throw new Error(`no key: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
