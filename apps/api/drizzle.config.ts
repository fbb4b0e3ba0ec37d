import { defineConfig } from "drizzle-kit";

/** `npx drizzle-kit generate` writes the next migration; files that exist are never edited. */
export default defineConfig({
  dialect: "postgresql",
  schema: "./src/db/schema/index.ts",
  out: "./migrations",
});
