// Who may import whom (.dependency-cruiser.cjs). A probe that breaks a rule runs first: a tool that reads nothing passes everything.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bin, root, run } from "../lib/run.mjs";

const folders = ["packages", "apps", "e2e", "native/npm"];
const probeFolder = join(root, "packages/protocol/src/arrows-probe");

await proveItCanFail();
const { status, output } = await cruise(folders);
process.stdout.write(output);
process.exitCode = status === 0 ? 0 : 1;

async function proveItCanFail() {
  mkdirSync(probeFolder, { recursive: true });
  try {
    writeFileSync(
      join(probeFolder, "probe.ts"),
      'import { readFileSync } from "node:fs";\nexport const probe = readFileSync;\n',
    );
    const { output, status } = await cruise(["packages/protocol/src/arrows-probe"]);
    if (status === 0 || !output.includes("core-does-no-io")) {
      throw new Error(`the probe was not caught: dependency-cruiser reads no TypeScript here\n${output}`);
    }
  } finally {
    rmSync(probeFolder, { recursive: true, force: true });
  }
}

function cruise(paths) {
  return run(bin("depcruise"), ["--config", ".dependency-cruiser.cjs", "--output-type", "err", ...paths], {
    allowFailure: true,
  });
}
