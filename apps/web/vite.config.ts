import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { firstLoadBudget } from "./first-load-budget.ts";

/** Where `vite` (development only) finds the control plane. */
const apiUrl = process.env["WEFT_DEV_API"] ?? "http://127.0.0.1:7400";

/** Compressed script that opening a page may cost. */
const FIRST_LOAD_BYTES_MAX = 250_000;

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), firstLoadBudget(FIRST_LOAD_BYTES_MAX)],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2023",
    // Data URIs would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/trpc": apiUrl, "/api": apiUrl } },
  test: {
    name: "web",
    root: import.meta.dirname,
    include: ["src/**/*.test.{ts,tsx}"],
    environment: "happy-dom",
    setupFiles: ["src/testing/setup.ts"],
    maxWorkers: 2,
    testTimeout: 60_000,
  },
});
