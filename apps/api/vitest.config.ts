import { defineConfig } from "vitest/config";

/** Workspace packages resolve to their sources, so no test waits for a build. */
const conditions = ["source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    name: "api",
    root: import.meta.dirname,
    include: ["src/**/*.test.ts"],
    environment: "node",
    globalSetup: ["src/testing/global-setup.ts"],
    // Each file makes its own databases and servers; one module graph per worker more than halves the time.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
