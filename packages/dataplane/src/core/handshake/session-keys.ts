/** What a completed handshake hands to the engine. */
export type SessionKeys = {
  readonly role: "initiator" | "responder";
  readonly localIndex: number;
  readonly remoteIndex: number;
  readonly sendKey: Uint8Array;
  readonly receiveKey: Uint8Array;
};

/** Why a handshake message led nowhere; each is counted. */
export type HandshakeError =
  | { readonly code: "bad_tag"; readonly field: "static" | "timestamp" | "nothing" | "cookie" }
  | { readonly code: "low_order_key" };
