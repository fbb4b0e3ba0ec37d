import { err, ok } from "@weft/protocol";

import { replaceFile } from "../../state/files.ts";
import { isRecord } from "../../state/state-store.ts";
import { askMember } from "../ask-member.ts";
import { whyNoFile } from "../output-file.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";

/** Writes one file with everything that helps to find a fault, and says what is in it. */
export async function debug(
  context: CommandContext,
  { file, addresses }: { readonly file: string; readonly addresses: "keep" | "redact" },
): Promise<CommandOutcome> {
  const { output, paths } = context;
  const obstacle = whyNoFile(file);
  if (obstacle) return err(obstacle);
  const asked = await askMember(paths, { method: "debug", addresses });
  if (!asked.ok) return asked;
  if (!isRecord(asked.value) || !isRecord(asked.value["contents"]))
    return err({ code: "failed", message: "the daemon is of another version; restart it" });
  const { contents } = asked.value;
  const written = replaceFile(file, `${JSON.stringify(asked.value, null, 1)}\n`);
  if (!written.ok) return err({ code: "failed", message: written.error.message });
  const parts = Object.entries(contents).map(([part, text]) => `  ${part}: ${String(text)}`);
  output.result({ file, contents }, [
    addresses === "keep"
      ? `wrote ${file}; it holds no private key and no token, but names and addresses (--redact leaves them out):`
      : `wrote ${file}; it holds no key, no token, no address and no name of a host:`,
    ...parts,
  ]);
  return ok(EXIT_CODES.ok);
}
