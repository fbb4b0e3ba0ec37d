import type { CipherChoice } from "@weft/dataplane";
import type { OffloadState } from "@weft/protocol";

/** Whether a faster cipher is offered to other agents, told like an offload of the kernel. */
export function cipherState({ offered, reason }: CipherChoice): OffloadState {
  return { name: "aes256Gcm", state: offered === "aes-256-gcm" ? "on" : "off", reason };
}
