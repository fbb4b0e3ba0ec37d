import { bench, describe } from "vitest";
import { createNoblePrimitives } from "../src/io/noble-primitives.ts";
import { createNodePrimitives } from "../src/io/node-primitives.ts";

/** What a handshake is made of, per implementation; `src/bench/handshake.ts` measures whole handshakes. */
describe.each([
  { name: "node", primitives: createNodePrimitives() },
  { name: "noble", primitives: createNoblePrimitives() },
])("primitives of $name", ({ primitives }) => {
  const bytes = new Uint8Array(32).fill(7);
  const key = primitives.importPrivateKey(bytes);
  const remote = primitives.importPublicKey(key.publicKey.bytes);
  const box = { key: bytes, nonce: new Uint8Array(12), text: bytes, associated: bytes };

  bench("import a private key", () => void primitives.importPrivateKey(bytes));
  bench("agree with a known key", () => void key.agree(remote));
  bench("agree with a new key", () => void key.agree(primitives.importPublicKey(key.publicKey.bytes)));
  bench("hash 64 bytes", () => void primitives.hash(bytes, bytes));
  bench("hmac of 32 bytes", () => void primitives.hmac(bytes, bytes, bytes));
  bench("mac of 116 bytes", () => void primitives.mac(bytes, new Uint8Array(116)));
  bench("seal 32 bytes", () => void primitives.seal(box));
});
