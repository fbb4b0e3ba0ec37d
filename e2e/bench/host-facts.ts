import { readFileSync } from "node:fs";
import { cpus, loadavg, release } from "node:os";
import { z } from "zod";

import { repositoryPath } from "../harness/repository.ts";
import type { BenchHost } from "./report.ts";

/** What a reader needs to know about the machine. */
export function describeHost(): BenchHost {
  const cores = cpus();
  return {
    cpu: cores[0]?.model.trim() ?? "unknown",
    cores: cores.length,
    kernel: release(),
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}

/** Version of this repository, as its package says. */
export function repositoryVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8"));
  return z.object({ version: z.string() }).parse(manifest).version;
}
