import type { Grant, NetworkRole, Scope, ServerRole } from "./access.ts";

/** Somebody with rights, as they are at this moment. */
type Rights = {
  readonly userId: string;
  readonly login: string;
  readonly role: ServerRole;
  readonly networkRoles: readonly NetworkRole[];
  readonly grants: readonly Grant[];
};

/** Who is behind a call. */
export type Actor =
  | { readonly kind: "anonymous" }
  | (Rights & {
      readonly kind: "user";
      readonly sessionId: string;
    })
  | (Rights & {
      readonly kind: "token";
      readonly tokenId: string;
      /** When the token ends; `null` for one without an end. */
      readonly expiresAt: Date | null;
      readonly scopes: readonly Scope[];
    })
  | { readonly kind: "node"; readonly peerId: string; readonly name: string };

/** One call of an operation, whatever surface it came in on. */
export type Call = {
  readonly actor: Actor;
  readonly requestId: string;
  /** Address of the client; from a forwarding header only when the proxy is trusted. */
  readonly address: string;
  readonly userAgent: string;
  /** True when the client speaks to us directly over loopback. */
  readonly isLocal: boolean;
  /** Base URL under which the client reached us. */
  readonly baseUrl: string;
  readonly sessionCookie: SessionCookie;
  /** Tags of the versions that the caller is willing to change; none said means any. */
  readonly ifMatch?: string | undefined;
};

/** The browser's session cookie, as an operation may change it. */
type SessionCookie = {
  readonly set: (token: string, expiresAt: Date) => void;
  readonly clear: () => void;
};
