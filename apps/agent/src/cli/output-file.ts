import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { errorCode } from "../state/files.ts";
import type { CliFailure } from "./output.ts";

/** Why no file can be made at this path, or `undefined`: asked before long work whose outcome would be lost. */
export function whyNoFile(path: string): CliFailure | undefined {
  const folder = dirname(resolve(path));
  try {
    if (!statSync(folder).isDirectory()) return { code: "usage", message: `${folder} is no folder` };
    accessSync(folder, constants.W_OK);
  } catch (error) {
    if (errorCode(error) === "EACCES") return { code: "permission", message: `${folder} is not yours to write to` };
    return { code: "usage", message: `the folder ${folder} does not exist; make it first` };
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    return { code: "usage", message: `${path} is a folder; name a file in it` };
  return undefined;
}
