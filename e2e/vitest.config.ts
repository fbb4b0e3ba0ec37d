import { defineConfig } from "vitest/config";

/** Workspace packages resolve to their sources; apps are started as they were built. */
const conditions = ["source", "import", "module", "default"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    name: "e2e",
    root: import.meta.dirname,
    include: ["**/*.test.ts", "scenarios/**/*.e2e.ts", "interop/**/*.e2e.ts"],
    exclude: ["**/node_modules/**", "dist/**"],
    environment: "node",
    pool: "forks",
    maxWorkers: 1,
    maxConcurrency: 8,
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 30_000,
  },
});
