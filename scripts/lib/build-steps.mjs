import { readdirSync } from "node:fs";
import { join } from "node:path";
import { bin, pnpm, root, run } from "./run.mjs";
import { whenChanged } from "./stamps.mjs";

const manifests = [
  "package.json",
  "pnpm-workspace.yaml",
  "pnpm-lock.yaml",
  ...["apps", "packages"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}/package.json`),
  ),
  "native/npm/package.json",
  "e2e/package.json",
];

/** What has to be made before anything runs, in order. Each step is skipped when nothing it reads has changed. */
export const buildSteps = [
  {
    title: "dependencies",
    run: (show) =>
      whenChanged({ name: "dependencies", inputs: manifests, outputs: ["node_modules/.bin/tsc"] }, async () => {
        await pnpm(["install", "--frozen-lockfile", "--reporter=append-only"], { onLine: show });
      }),
  },
  {
    title: "native addon (release mode; the first time takes minutes)",
    run: (show) =>
      whenChanged(
        {
          name: "addon",
          inputs: [
            "native/crates",
            "native/Cargo.toml",
            "native/Cargo.lock",
            "native/.cargo",
            "native/npm/package.json",
          ],
          outputs: ["native/npm/node_modules"],
        },
        async () => {
          await run("npm", ["run", "--silent", "build"], {
            cwd: join(root, "native/npm"),
            onLine: show,
            title: "addon build",
          });
        },
      ),
  },
  {
    title: "TypeScript",
    run: (show) =>
      whenChanged(
        {
          name: "typescript",
          inputs: ["packages", "apps", "e2e", "native/npm", "tsconfig.base.json", "tsconfig.json"],
          outputs: ["apps/api/dist/main.js", "apps/agent/dist/main.js"],
        },
        async () => {
          await run(bin("tsc"), ["-b"], { onLine: show, title: "tsc -b" });
        },
      ),
  },
  {
    title: "agent archive",
    run: (show) =>
      whenChanged(
        {
          name: "agent-archive",
          inputs: [
            "apps/agent",
            "packages",
            "native/crates",
            "native/Cargo.lock",
            "native/npm",
            "pnpm-lock.yaml",
            "LICENSE",
          ],
          outputs: ["apps/agent/release/install.sh", `apps/agent/release/weft-agent-linux-${process.arch}.tar.gz`],
        },
        async () => {
          await run("npm", ["run", "--silent", "bundle"], {
            cwd: join(root, "apps/agent"),
            onLine: show,
            title: "agent archive",
          });
        },
      ),
  },
  {
    title: "dashboard",
    run: (show) =>
      whenChanged(
        { name: "dashboard", inputs: ["apps/web", "packages/protocol"], outputs: ["apps/web/dist/index.html"] },
        async () => {
          await run(bin("vite"), ["build"], { cwd: join(root, "apps/web"), onLine: show, title: "vite build" });
        },
      ),
  },
];
