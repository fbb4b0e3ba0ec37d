import { createHmac, timingSafeEqual } from "node:crypto";
import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { z } from "zod";
import type { Failure } from "../domain/failure.ts";

/** Turns places in lists into opaque text and back. */
export type Cursors = {
  /** `list` names the list with its order and filter: a cursor fits no other. */
  readonly seal: (list: string, place: readonly string[]) => string;
  readonly open: (list: string, cursor: string) => Result<readonly string[], Failure>;
};

/** Cursors are signed, so nobody can ask the database for a place that was never handed out. */
export function createCursors(key: Uint8Array): Cursors {
  const sign = (list: string, body: string) =>
    createHmac("sha256", key).update(list).update("\0").update(body).digest().subarray(0, SIGNATURE_BYTES);
  return {
    seal(list, place) {
      const body = JSON.stringify(place);
      return Buffer.concat([sign(list, body), Buffer.from(body)]).toString("base64url");
    },
    open(list, cursor) {
      const bytes = Buffer.from(cursor, "base64url");
      const body = bytes.subarray(SIGNATURE_BYTES).toString();
      const signature = bytes.subarray(0, SIGNATURE_BYTES);
      if (signature.length !== SIGNATURE_BYTES || !timingSafeEqual(signature, sign(list, body))) {
        return err({ code: "cursor_invalid" });
      }
      return ok(PlaceSchema.parse(JSON.parse(body)));
    },
  };
}

const PlaceSchema = z.array(z.string());
const SIGNATURE_BYTES = 16;
