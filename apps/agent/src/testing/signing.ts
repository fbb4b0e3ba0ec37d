import { createPrivateKey, createPublicKey, sign, type KeyObject } from "node:crypto";
import { deflateRawSync } from "node:zlib";

import {
  deltaSigningBytes,
  encodeDeltaBody,
  encodeMapBody,
  encodeServerFrame,
  fromBase64Url,
  mapSigningBytes,
  serverKeyFromBytes,
  splitMap,
  type MapDelta,
  type MapVersion,
  type NetworkMap,
  type ServerFrame,
  type ServerKey,
} from "@weft/protocol";
import { countingRandom, mustBe } from "@weft/protocol/testing";

/** A control plane's signing key, deterministic by seed. */
export type TestServerIdentity = {
  readonly serverKey: ServerKey;
  readonly sign: (bytes: Uint8Array) => Uint8Array;
};

export function aServerIdentity(seed = 1): TestServerIdentity {
  const key: KeyObject = createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), countingRandom(seed)(32)]),
    format: "der",
    type: "pkcs8",
  });
  const publicBytes = mustBe(fromBase64Url(createPublicKey(key).export({ format: "jwk" }).x ?? ""));
  return { serverKey: mustBe(serverKeyFromBytes(publicBytes)), sign: (bytes) => sign(null, bytes, key) };
}

/** The frames of a signed snapshot. */
export function snapshotFrames(identity: TestServerIdentity, map: NetworkMap, version: MapVersion): ServerFrame[] {
  const body = encodeMapBody(map);
  const signed = { ...version, timeMs: 1_000, body };
  return splitMap({
    ...version,
    timeMs: 1_000,
    compression: "deflate",
    bodyBytes: body.length,
    bytes: deflateRawSync(body, { level: 1 }),
    signature: identity.sign(mapSigningBytes(signed)),
  });
}

/** One signed change. */
export function deltaFrame(
  identity: TestServerIdentity,
  delta: MapDelta,
  version: MapVersion & { readonly baseSequence: bigint },
): ServerFrame {
  const body = encodeDeltaBody(delta);
  return {
    kind: "delta",
    ...version,
    timeMs: 1_000,
    body,
    signature: identity.sign(deltaSigningBytes({ ...version, timeMs: 1_000, body })),
  };
}

/** Frames with their bytes, as a receiver gets them. */
export function withBytes(frames: readonly ServerFrame[]): { readonly frame: ServerFrame; readonly raw: Uint8Array }[] {
  return frames.map((frame) => ({ frame, raw: encodeServerFrame(frame) }));
}
