import { test as base } from "vitest";

import { startMesh, stopMesh, type Mesh } from "../harness/mesh.ts";
import { whyNoMesh } from "../harness/tools.ts";

/** A test on a fresh server with two joined hosts; skipped with the reason where that cannot run. */
export const test = base.extend<{ mesh: Mesh }>({
  mesh: async ({ skip }, use) => {
    const reason = whyNoMesh();
    if (reason !== undefined) skip(reason);
    try {
      await use(await startMesh());
    } finally {
      await stopMesh();
    }
  },
});
