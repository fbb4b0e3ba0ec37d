import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createLoadInitiator, importLoadKey } from "../bench/initiator.ts";
import { decodeCommands } from "../fake/decode-commands.ts";
import { createNodePrimitives } from "../io/node-primitives.ts";
import { generateKeyPair } from "../keys.ts";
import { createLocalIdentity } from "./handshake/identity.ts";
import { createTunnelCore, type TunnelCoreInput } from "./tunnel-core.ts";

const AT = { nowMs: 0, unixMs: 1_700_000_000_000 };

test.each([
  { name: "no tuning", tuning: {}, ageMs: 0 },
  { name: "5 s wanted", tuning: { rekeyAfterMs: 5_000 }, ageMs: 115_000 },
])("a session is installed so much older as it is to be rekeyed earlier: $name", ({ tuning, ageMs }) => {
  expect(installedAges(tuning)).toEqual([ageMs]);
});

/** Ages with which sessions are installed when a peer has started one. */
function installedAges(tuning: Pick<TunnelCoreInput, "rekeyAfterMs">): number[] {
  const own = generateKeyPair();
  const peer = generateKeyPair();
  const core = createTunnelCore({
    local: createLocalIdentity(createNodePrimitives(), own.privateKey.expose()),
    random: (byteCount) => new Uint8Array(randomBytes(byteCount)),
    peersMax: 4,
    mtu: { mtu: 1_420, mtuMax: 1_420 },
    at: AT,
    ...tuning,
  });
  core.replacePeers([{ publicKey: peer.publicKey, allowedIps: [], endpoints: [], keepaliveSeconds: 0 }], AT);
  const initiator = createLoadInitiator(peer.privateKey.expose(), own.publicKey);
  const { message } = initiator.initiate(importLoadKey(new Uint8Array(randomBytes(32))), 1, AT.unixMs);
  const from = { address: Uint8Array.of(192, 0, 2, 1), port: 51_820 };
  core.handleEngineEvent({ kind: "handshake-message", from, message, load: "normal", mac2: "absent" }, AT);
  return decodeCommands(core.commands.batch()).flatMap((command) =>
    command.kind === "install-session" ? [command.ageMs] : [],
  );
}
