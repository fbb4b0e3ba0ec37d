import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { isPublicKey, keyBytes } from "@weft/protocol";
import { createLocalIdentity, createRemoteIdentity } from "../core/handshake/identity.ts";
import { createInitiation } from "../core/handshake/initiator.ts";
import { writeMacs } from "../core/handshake/macs.ts";
import { tai64n } from "../core/handshake/tai64n.ts";
import { NO_PRESHARED_KEY } from "../core/handshake/transcript.ts";
import { createNodePrimitives } from "../io/node-primitives.ts";
import { generateKeyPair } from "../keys.ts";

/**
 * Floods one tunnel with initiations that a stranger could make: right MAC1, unknown sender. Arguments: the target's
 * public key, address, port, milliseconds.
 */
async function main(): Promise<void> {
  const [key = "", address = "", port = "", durationMs = ""] = process.argv.slice(2);
  if (!isPublicKey(key)) throw new Error("the first argument is a public key");
  const messages = Array.from({ length: 200 }, () => initiationFor(keyBytes(key)));
  const socket = createSocket("udp4");
  const endMs = Date.now() + Number(durationMs);
  process.send?.({ ready: true });
  while (Date.now() < endMs) {
    for (const message of messages) socket.send(message, Number(port), address, () => {});
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  socket.close();
  process.disconnect?.();
}

function initiationFor(target: Uint8Array): Uint8Array {
  const primitives = createNodePrimitives();
  const local = createLocalIdentity(primitives, generateKeyPair().privateKey.expose());
  const remote = createRemoteIdentity(local, { publicKey: target, presharedKey: NO_PRESHARED_KEY });
  if (!remote) throw new Error("the target's key has low order");
  const ephemeral = primitives.importPrivateKey(randomBytes(32));
  const made = createInitiation({ local, remote, ephemeral, localIndex: 1, timestamp: tai64n(Date.now(), null) });
  if (!made.ok) throw new Error(made.error.code);
  writeMacs(primitives, made.value.message, { mac1Key: remote.mac1Key, cookie: null });
  return made.value.message;
}

/** 200 messages every 10 ms: ten times what one core can answer. */
const PAUSE_MS = 10;

await main();
