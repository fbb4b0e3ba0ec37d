import { gzipSync } from "node:zlib";
import type { Plugin, Rolldown } from "vite";

/** Fails the build when the compressed script that opening any page needs is larger than `bytesMax`. */
export function firstLoadBudget(bytesMax: number): Plugin {
  return {
    name: "first-load-budget",
    apply: "build",
    generateBundle(_, bundle) {
      const chunks = new Map(
        Object.values(bundle).flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])),
      );
      const entry = [...chunks.values()].find((chunk) => chunk.isEntry);
      if (!entry) return this.error("the bundle has no entry");
      for (const page of chunks.values()) {
        if (page !== entry && !page.isDynamicEntry) continue;
        const needed = closure(chunks, [entry.fileName, page.fileName]);
        const bytes = needed.reduce((sum, chunk) => sum + gzipSync(chunk.code).length, 0);
        if (bytes > bytesMax)
          this.error(`opening ${page.name} loads ${bytes} bytes of compressed script; the budget is ${bytesMax}`);
      }
    },
  };
}

/** The chunks that these need, each once, without what is loaded later on demand. */
function closure(chunks: ReadonlyMap<string, Rolldown.OutputChunk>, names: readonly string[]): Rolldown.OutputChunk[] {
  const found = new Map<string, Rolldown.OutputChunk>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const chunk = chunks.get(name);
    if (!chunk || found.has(name)) continue;
    found.set(name, chunk);
    open.push(...chunk.imports);
  }
  return [...found.values()];
}
