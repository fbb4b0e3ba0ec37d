import { mkdir, readFile, rm, writeFile } from "node:fs/promises";

import { cleanUpLater } from "./cleanup.ts";
import type { Host } from "./namespaces.ts";
import { mustRun, runCommand } from "./run-command.ts";

/** A host with a resolver file of its own: what runs there never sees the one of this machine. */
export type ResolvingHost = Host & {
  /** What its resolver file says now. */
  readonly resolvConf: () => Promise<string>;
};

/** Gives a host a resolver file; programs of the host returned see it as `/etc/resolv.conf`. */
export async function withResolver(host: Host, content: string): Promise<ResolvingHost> {
  const folder = `/etc/netns/${host.namespace}`;
  await mkdir(folder, { recursive: true });
  cleanUpLater({ name: folder, run: () => rm(folder, { recursive: true, force: true }) });
  const file = `${folder}/resolv.conf`;
  await writeFile(file, content);
  const enter = (program: string, args: readonly string[]): readonly string[] => [
    "netns",
    "exec",
    host.namespace,
    program,
    ...args,
  ];
  return {
    ...host,
    wrap: (program, args) => ["ip", ...enter(program, args)],
    run: (program, args, options) => runCommand("ip", enter(program, args), options),
    must: (program, args, options) => mustRun("ip", enter(program, args), options),
    resolvConf: () => readFile(file, "utf8"),
  };
}
