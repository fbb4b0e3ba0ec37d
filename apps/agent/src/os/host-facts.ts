import { randomBytes } from "node:crypto";
import { arch, hostname, release, type as systemName } from "node:os";

/** What the agent says about its host and process. */
export type HostFacts = {
  readonly hostname: string;
  readonly os: string;
  readonly arch: string;
  /** Random per process. */
  readonly bootId: bigint;
  readonly counterEpoch: bigint;
  readonly usage: () => { readonly cpuMicroseconds: bigint; readonly rssBytes: number };
};

export function readHostFacts(): HostFacts {
  return {
    hostname: hostname().slice(0, 253),
    os: `${systemName().toLowerCase()} ${release()}`.slice(0, 100),
    arch: arch(),
    bootId: randomBytes(8).readBigUInt64LE(),
    counterEpoch: randomBytes(8).readBigUInt64LE(),
    usage() {
      const { user, system } = process.cpuUsage();
      return { cpuMicroseconds: BigInt(user + system), rssBytes: process.memoryUsage.rss() };
    },
  };
}
