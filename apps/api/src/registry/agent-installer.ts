import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fillInstallScript } from "../domain/install-script.ts";
import type { AgentArchive } from "../domain/install-script.ts";

/** An archive at rest. */
export type ArchiveFile = AgentArchive & { readonly path: string; readonly bytes: number };

/** The install script for one address of the server. */
export type InstallScript = { readonly text: string; readonly digest: string };

/** What hosts download to become members. */
export type AgentInstaller = {
  /** `null` while no archive was built; also for an address that no script can be made for. */
  readonly script: (serverUrl: string) => Promise<InstallScript | null>;
  readonly archive: (arch: AgentArch) => Promise<ArchiveFile | null>;
};

/** Architectures that an archive can exist for; a fixed set, so that no part of a request becomes a path. */
export const AGENT_ARCHES = ["x64", "arm64"] as const;
export type AgentArch = (typeof AGENT_ARCHES)[number];

export const archiveName = (arch: AgentArch): string => `weft-agent-linux-${arch}.tar.gz`;

/** Reads the files of the agent's build. A build that replaces them while the server runs is noticed. */
export function createAgentInstaller(folder: string): AgentInstaller {
  const known = new Map<AgentArch, { readonly mark: string; readonly file: ArchiveFile }>();
  const archive = async (arch: AgentArch): Promise<ArchiveFile | null> => {
    const path = join(folder, archiveName(arch));
    const found = await markOf(path);
    if (!found) return null;
    const kept = known.get(arch);
    if (kept?.mark === found.mark) return kept.file;
    const file = { arch, path, bytes: found.bytes, digest: await digestOf(path) };
    known.set(arch, { mark: found.mark, file });
    return file;
  };
  return {
    archive,
    async script(serverUrl) {
      const template = await readFile(join(folder, "install.sh"), "utf8").catch(() => null);
      if (template === null) return null;
      const archives = (await Promise.all(AGENT_ARCHES.map(archive))).filter((file) => file !== null);
      if (archives.length === 0) return null;
      const text = fillInstallScript(template, { serverUrl, archives });
      return text === null ? null : { text, digest: createHash("sha256").update(text).digest("hex") };
    },
  };
}

/** Tells one state of a file from another; a build puts a new file in the old one's place. */
async function markOf(path: string): Promise<{ readonly mark: string; readonly bytes: number } | null> {
  const handle = await open(path).catch(() => null);
  if (!handle) return null;
  try {
    const { ino, size, mtimeMs } = await handle.stat();
    return { mark: `${ino} ${size} ${mtimeMs}`, bytes: size };
  } finally {
    await handle.close();
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
