import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "vite";

/**
 * Bundles the built command line and every library it uses into `folder`: `weft.mjs` plus the parts that are loaded on demand,
 * so that the daemon holds no more in memory than it does in a clone. Resolves with the packages that went in.
 */
export async function bundleCode(entry, folder) {
  const output = await build({
    configFile: false,
    root: dirname(dirname(entry)),
    logLevel: "warn",
    resolve: { conditions: ["node", "import", "default"] },
    // Everything but the system's own modules; libraries of ws that it only tries to load stay outside.
    ssr: { noExternal: true, external: OPTIONAL, resolve: { conditions: ["node", "import", "default"] } },
    build: {
      ssr: entry,
      outDir: folder,
      emptyOutDir: false,
      target: "node20",
      minify: false,
      rolldownOptions: {
        external: OPTIONAL,
        output: { format: "es", entryFileNames: "weft.mjs", chunkFileNames: "part-[name]-[hash].mjs" },
      },
    },
  });
  return packagesOf(output.output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : [])));
}

/** The packages that a list of module files belongs to, ours left out, by name. */
function packagesOf(files) {
  const folders = new Set(files.filter((file) => file.includes("/node_modules/")).map(packageFolder));
  const packages = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { name, version, license, folder };
  });
  return packages.toSorted((a, b) => a.name.localeCompare(b.name));
}

function packageFolder(file) {
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  if (folder === undefined) throw new Error(`${file} belongs to no package`);
  return folder;
}

const OPTIONAL = ["bufferutil", "utf-8-validate"];
