import { CAPABILITY, laneCapability, type LinkCipher } from "@weft/protocol";
import type { LaneChoice } from "./lane-choice.ts";

/** What sealing a packet costs with one cipher on this machine. */
export type CipherSpeed = {
  readonly cipher: LinkCipher;
  /** For one packet of `packetBytes` bytes. */
  readonly nanoseconds: number;
  readonly packetBytes: number;
  /** Whether the processor has instructions for it. */
  readonly hasInstructions: boolean;
};

/** Which cipher is wished for: the faster one of this machine, or one by name. */
export type CipherWish = "auto" | "chacha20" | "aes-256-gcm";

/** What a machine offers beyond WireGuard's cipher, and why. */
export type CipherChoice = {
  readonly offered: LinkCipher;
  /** A sentence for the status. */
  readonly reason: string;
};

/**
 * AES-256-GCM is offered where the processor has instructions for it and it takes at most 5/6 of the time of
 * ChaCha20-Poly1305: so clearly faster that the next measurement says the same.
 */
export function chooseCipher(wish: CipherWish, speeds: readonly CipherSpeed[]): CipherChoice {
  if (wish === "chacha20") return { offered: "chacha20-poly1305", reason: "WEFT_CIPHER asks for it" };
  if (wish === "aes-256-gcm") return { offered: "aes-256-gcm", reason: "WEFT_CIPHER asks for it" };
  const [chacha, aes] = (["chacha20-poly1305", "aes-256-gcm"] as const).map((cipher) =>
    speeds.find((speed) => speed.cipher === cipher),
  );
  if (!chacha || !aes) return { offered: "chacha20-poly1305", reason: "the ciphers could not be measured" };
  if (!aes.hasInstructions) {
    return { offered: "chacha20-poly1305", reason: "the processor has no instructions for AES-256-GCM" };
  }
  const figures = `${Math.round(aes.nanoseconds)} against ${Math.round(chacha.nanoseconds)} ns for ${aes.packetBytes} bytes`;
  return aes.nanoseconds * MARGIN <= chacha.nanoseconds
    ? { offered: "aes-256-gcm", reason: `AES-256-GCM is faster: ${figures}` }
    : { offered: "chacha20-poly1305", reason: `AES-256-GCM is not clearly faster: ${figures}` };
}

/** What a node announces about its link profiles. */
export function profileCapabilities(own: {
  readonly cipher: CipherChoice;
  readonly checksumElision: "auto" | "off";
  /** Absent = none are offered. */
  readonly lanes?: LaneChoice;
}): readonly string[] {
  return [
    ...(own.cipher.offered === "aes-256-gcm" ? [CAPABILITY.aes256Gcm] : []),
    ...(own.checksumElision === "off" ? [] : [CAPABILITY.elision]),
    ...(own.lanes && own.lanes.offered > 1 ? [laneCapability(own.lanes.offered)] : []),
  ];
}

const MARGIN = 1.2;
