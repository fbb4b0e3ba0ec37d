import { asciiBytes } from "./bytes.ts";
import type { PrivateKey, Primitives, RemoteKey } from "./primitives.ts";

/** Our own side: the static key and the two keys others derive from its public half. */
export type LocalIdentity = {
  readonly primitives: Primitives;
  readonly privateKey: PrivateKey;
  /** Key of MAC1 on messages to us. */
  readonly mac1Key: Uint8Array;
  /** Key that seals the cookies we hand out. */
  readonly cookieKey: Uint8Array;
};

/** Somebody else's side as the handshake needs it. */
export type RemoteIdentity = {
  readonly publicKey: RemoteKey;
  /** X25519 of both static keys, computed once. */
  readonly staticShared: Uint8Array;
  readonly presharedKey: Uint8Array;
  readonly mac1Key: Uint8Array;
  readonly cookieKey: Uint8Array;
};

export function createLocalIdentity(primitives: Primitives, privateKeyBytes: Uint8Array): LocalIdentity {
  const privateKey = primitives.importPrivateKey(privateKeyBytes);
  return { primitives, privateKey, ...labelKeys(primitives, privateKey.publicKey.bytes) };
}

/** Prepares a peer; null when its public key has low order, so that no handshake with it can be safe. */
export function createRemoteIdentity(
  local: LocalIdentity,
  remote: { readonly publicKey: Uint8Array; readonly presharedKey: Uint8Array },
): RemoteIdentity | null {
  const publicKey = local.primitives.importPublicKey(remote.publicKey);
  const staticShared = local.privateKey.agree(publicKey);
  if (!staticShared) return null;
  return {
    publicKey,
    staticShared,
    presharedKey: remote.presharedKey,
    ...labelKeys(local.primitives, remote.publicKey),
  };
}

function labelKeys(
  primitives: Primitives,
  publicKey: Uint8Array,
): { readonly mac1Key: Uint8Array; readonly cookieKey: Uint8Array } {
  return {
    mac1Key: primitives.hash(LABEL_MAC1, publicKey),
    cookieKey: primitives.hash(LABEL_COOKIE, publicKey),
  };
}

const LABEL_MAC1 = asciiBytes("mac1----");
const LABEL_COOKIE = asciiBytes("cookie--");
