import type { z } from "zod";
import type { FailedField } from "../domain/failure.ts";

/** One entry per wrong field, unknown ones included. */
export function failedFields(error: z.ZodError): FailedField[] {
  return error.issues.flatMap((issue): FailedField[] => {
    const pointer = pointerOf(issue.path);
    if (issue.code !== "unrecognized_keys") return [{ pointer, code: issue.code, message: issue.message }];
    return issue.keys.map((key) => ({
      pointer: pointerOf([...issue.path, key]),
      code: "unknown_field",
      message: "this field does not exist",
    }));
  });
}

/** RFC 6901. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
