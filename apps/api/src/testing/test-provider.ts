import { generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Provider } from "oidc-provider";

/** A real OpenID Connect provider on this machine; whoever comes is signed in as the subject that the test names. */
export type TestProvider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Walks a browser through the provider as `subject`; returns the query that it comes back with. */
  readonly signIn: (url: string, as: Person) => Promise<string>;
  /** Answers in place of the provider for paths that it says something about. */
  readonly breakWith: (fault: Fault | undefined) => void;
  /** Answers of the token endpoint with an ID token of these claims, signed by the provider's own key. */
  readonly forge: (claims: Readonly<Record<string, unknown>>, algorithm?: "RS256" | "none") => Fault;
  /** Paths that were asked for so far. */
  readonly requests: () => readonly string[];
  readonly dispose: () => Promise<void>;
};

export type Person = { readonly subject: string; readonly name?: string; readonly answer?: "yes" | "no" };
export type Fault = (path: string) => { readonly status: number; readonly body: string } | undefined;

export async function startTestProvider(redirectUri: string): Promise<TestProvider> {
  let person: Person = { subject: "nobody" };
  let fault: Fault | undefined;
  const requests: string[] = [];
  const names = new Map<string, string>();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  if (typeof bound !== "object" || bound === null) throw new Error("a listening server has an address");
  const issuer = `http://127.0.0.1:${bound.port}`;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const provider = makeProvider({ issuer, redirectUri, names, privateKey });
  const callback = provider.callback();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    requests.push(path);
    const broken = fault?.(path);
    if (broken) {
      response.writeHead(broken.status, { "content-type": "application/json" }).end(broken.body);
      return;
    }
    if (path.startsWith("/interaction/")) await interact(provider, { request, response, person });
    else await callback(request, response);
  }

  return {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    async signIn(url, as) {
      person = as;
      if (as.name !== undefined) names.set(as.subject, as.name);
      return walk(url, redirectUri);
    },
    forge: (claims, algorithm = "RS256") => {
      const idToken = jwt(claims, { algorithm, privateKey });
      const body = JSON.stringify({ access_token: "x", token_type: "Bearer", id_token: idToken });
      return (path) => (path === "/token" ? { status: 200, body } : undefined);
    },
    breakWith: (wanted) => void (fault = wanted),
    requests: () => requests,
    dispose: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function makeProvider(options: {
  readonly issuer: string;
  readonly redirectUri: string;
  readonly names: ReadonlyMap<string, string>;
  readonly privateKey: KeyObject;
}): Provider {
  const key = options.privateKey.export({ format: "jwk" });
  return new Provider(options.issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [options.redirectUri],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    jwks: { keys: [{ ...key, kty: "RSA", alg: "RS256", use: "sig", kid: "test" }] },
    cookies: { keys: ["only for tests"] },
    pkce: { required: () => true },
    // The names of people come with the ID token, as big providers do it.
    conformIdTokenClaims: false,
    claims: { openid: ["sub"], profile: ["preferred_username"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: options.names.get(id) }),
    }),
  });
}

function jwt(
  claims: Readonly<Record<string, unknown>>,
  { algorithm, privateKey }: { readonly algorithm: string; readonly privateKey: KeyObject },
): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const body = `${part({ alg: algorithm, kid: "test", typ: "JWT" })}.${part(claims)}`;
  const signature = algorithm === "none" ? "" : sign("sha256", Buffer.from(body), privateKey).toString("base64url");
  return `${body}.${signature}`;
}

async function interact(
  provider: Provider,
  { request, response, person }: { request: IncomingMessage; response: ServerResponse; person: Person },
): Promise<void> {
  const details = await provider.interactionDetails(request, response);
  if (person.answer === "no") {
    await provider.interactionFinished(request, response, { error: "access_denied" });
  } else if (details.prompt.name === "login") {
    await provider.interactionFinished(request, response, { login: { accountId: person.subject } });
  } else {
    const accountId = details.session?.accountId ?? person.subject;
    const grant = new provider.Grant({ accountId, clientId: CLIENT_ID });
    grant.addOIDCScope("openid profile");
    const grantId = await grant.save();
    await provider.interactionFinished(request, response, { consent: { grantId } }, { mergeWithLastSubmission: true });
  }
}

/** Follows redirects as a browser does, until the provider sends it back. */
async function walk(start: string, redirectUri: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let hop = 0; hop < 12; hop += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`the provider stopped at ${response.status}: ${await response.text()}`);
    url = new URL(location, url).toString();
    if (url.startsWith(redirectUri)) return new URL(url).search.slice(1);
  }
  throw new Error("the provider sends the browser round in circles");
}

const CLIENT_ID = "weft";
const CLIENT_SECRET = "a secret of the test client";
