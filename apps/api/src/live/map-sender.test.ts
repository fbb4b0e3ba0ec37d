import { generateKeyPairSync, sign } from "node:crypto";
import { decodeServerFrame, Secret, serverKeyFromBytes } from "@weft/protocol";
import { expect, test } from "vitest";
import { aMirror, aPeer, idOf } from "../testing/a-mirror.ts";
import { eventually } from "../testing/simulated-agent.ts";
import type { AgentSocket } from "./agent-socket.ts";
import { attachStream } from "./attached-stream.ts";
import { createMapEncoder } from "./map-encoder.ts";
import { createMapSender } from "./map-sender.ts";

test("AP-20 CP-10 a change never goes before the whole map that a node waits for", async () => {
  const members = [aPeer(1, []), aPeer(2, [])];
  const mirror = aMirror(members);
  const sent: string[] = [];
  const socket: AgentSocket = {
    protect: nothing,
    send: nothing,
    bye: nothing,
    cut: nothing,
    waitingBytes: () => 0,
    sendBytes(bytes) {
      const frame = decodeServerFrame(bytes);
      sent.push(frame.ok ? frame.value.kind : "broken");
    },
  };
  const clock = { nowMs: () => Date.now() };
  const stream = attachStream({ peerId: idOf(1), socket, mirror, nowMs: clock.nowMs() });
  const faults: unknown[] = [];
  const onError = (_event: string, error: unknown) => void faults.push(error);
  const encoder = createMapEncoder({ identity: aServer(), clock });
  const sender = createMapSender({ mirror, encoder, clock, onSent: nothing, onError });

  // A node that asks for its map twice waits a moment for the second one; changes are due at once.
  stream.snapshotSentMs = performance.now();
  sender.needsSnapshot(stream);
  stream.desired.notePeer(idOf(2));
  sender.needsDelta(stream);
  await eventually("the map", () => sent.includes("mapEnd") || undefined, 60_000);
  stream.desired.notePeer(idOf(2));
  sender.needsDelta(stream);
  await eventually("the change", () => sent.includes("delta") || undefined, 60_000);
  sender.dispose();

  expect(sent).toEqual(["mapBegin", "mapPart", "mapEnd", "delta"]);
  expect(faults).toEqual([]);
});

function nothing(): void {}

function aServer() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const key = serverKeyFromBytes(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url"));
  if (!key.ok) throw new Error("a key");
  return {
    key: key.value,
    sign: (message: Uint8Array) => Uint8Array.from(sign(null, message, privateKey)),
    privateKey: new Secret(""),
    deriveKey: () => new Uint8Array(32),
  };
}
