// Moves what the build made to its place. A rename leaves running programs the file they have mapped; writing into it would
// kill them.
import { readdirSync, renameSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const built = new URL("build/", import.meta.url);
for (const name of readdirSync(built)) {
  renameSync(fileURLToPath(new URL(name, built)), fileURLToPath(new URL(name, import.meta.url)));
}
rmSync(built, { recursive: true });
