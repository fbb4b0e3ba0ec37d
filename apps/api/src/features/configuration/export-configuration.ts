import { ok } from "@weft/protocol";
import { transact } from "../../db/transact.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { configurationContract } from "./contract.ts";
import { writeDocument } from "./document-text.ts";
import { surveyAll } from "./survey.ts";
import { workIn } from "./work.ts";

/** Writes what the server has as a file. Each part is read as its own operation, so the caller must be allowed each. */
export async function exportConfiguration(
  deps: FeatureDeps,
  call: Call,
  { format }: InputOf<typeof configurationContract.export>,
): Outcome<typeof configurationContract.export> {
  return transact(deps.database.db, async (tx) => {
    const document = await surveyAll(workIn(deps, call, { tx, authority: "caller" }));
    return document.ok ? ok({ format, content: writeDocument(document.value, format) }) : document;
  });
}
