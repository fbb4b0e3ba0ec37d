import { randomBytes } from "node:crypto";
import { pathToFileURL } from "node:url";
import { z } from "zod";

import { repositoryPath } from "../../harness/repository.ts";

/** Initiations with a right MAC1 over random content: all that somebody can make who knows nothing but the public key. */
export async function forgedInitiations(responder: Buffer, count: number): Promise<Buffer[]> {
  const { createNodePrimitives } = PrimitivesModule.parse(await load("io", "node-primitives.js"));
  const { writeMacs } = MacsModule.parse(await load("core", "handshake", "macs.js"));
  const primitives = createNodePrimitives();
  const mac1Key = primitives.hash(Buffer.from("mac1----"), responder);
  return Array.from({ length: count }, () => {
    const message = Buffer.alloc(INITIATION_BYTES);
    message.writeUInt32LE(INITIATION_TYPE);
    message.set(randomBytes(MACS_AT - 4), 4);
    writeMacs(primitives, message, { mac1Key, cookie: null });
    return message;
  });
}

function load(...parts: readonly string[]): Promise<unknown> {
  return import(pathToFileURL(repositoryPath("packages", "dataplane", "dist", ...parts)).href);
}

type Primitives = { readonly hash: (...parts: readonly Uint8Array[]) => Uint8Array };
type WriteMacs = (
  primitives: Primitives,
  message: Uint8Array,
  keys: { readonly mac1Key: Uint8Array; readonly cookie: null },
) => Uint8Array;
const isFunction = (value: unknown): boolean => typeof value === "function";
const PrimitivesModule = z.object({ createNodePrimitives: z.custom<() => Primitives>(isFunction) });
const MacsModule = z.object({ writeMacs: z.custom<WriteMacs>(isFunction) });
const INITIATION_TYPE = 1;
const INITIATION_BYTES = 148;
const MACS_AT = 116;
