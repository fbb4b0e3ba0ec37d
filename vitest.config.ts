import { defineConfig } from "vitest/config";

/** Workspace packages resolve to their sources, so no test waits for a build. */
const conditions = ["source", "import", "module", "default"];

/** Which folders hold which named project. The browser project brings its own configuration. */
const nodeProjects = [
  { name: "protocol", root: "packages/protocol" },
  { name: "dataplane", root: "packages/dataplane" },
  { name: "api", root: "apps/api" },
  { name: "agent", root: "apps/agent" },
];

export default defineConfig({
  test: {
    coverage: { provider: "v8", include: ["packages/*/src/**", "apps/*/src/**"] },
    projects: [
      ...nodeProjects.map(({ name, root }) => ({
        extends: true as const,
        resolve: { conditions },
        ssr: { resolve: { conditions, externalConditions: conditions } },
        test: {
          name,
          root,
          include: ["src/**/*.test.ts"],
          environment: "node",
          testTimeout: 30_000,
          hookTimeout: 120_000,
        },
      })),
      "apps/web/vite.config.ts",
    ],
  },
});
