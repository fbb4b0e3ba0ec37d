import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

import { err, ok, type Result } from "@weft/protocol";

/** What routing needs of the host; tests bring their own. */
export type RoadHost = {
  /** Runs a program with text for its standard input; the value is what it printed. */
  readonly run: (
    program: "ip" | "nft",
    args: readonly string[],
    input?: string,
  ) => Promise<Result<string, { readonly message: string }>>;
  /** A kernel setting below /proc/sys; null when there is none. */
  readonly readSetting: (path: string) => string | null;
  readonly writeSetting: (path: string, value: string) => Result<undefined, { readonly message: string }>;
  /** Names below a folder of /proc/sys. */
  readonly listSettings: (folder: string) => readonly string[];
  /** Differs after each boot of the host. */
  readonly bootId: () => string;
};

/** The real one. */
export const realRoadHost: RoadHost = {
  run(program, args, input = "") {
    return new Promise((resolve) => {
      const child = execFile(
        program,
        [...args],
        { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX, env: PLAIN_ENVIRONMENT },
        (error, out, problems) => {
          if (error === null) return resolve(ok(out));
          const words = problems.trim().slice(-300) || error.message;
          const message =
            error.code === "ENOENT"
              ? `the program "${program}" is not installed; install ${PACKAGES[program]}`
              : `${program}: ${words}`;
          resolve(err({ message }));
        },
      );
      // A program that could not be started has nobody who reads.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input);
    });
  },
  readSetting(path) {
    try {
      return readFileSync(`/proc/sys/${path}`, "utf8").trim();
    } catch {
      return null;
    }
  },
  writeSetting(path, value) {
    try {
      writeFileSync(`/proc/sys/${path}`, value);
      return ok(undefined);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return err({ message: `the kernel setting ${path.replaceAll("/", ".")} cannot be set to ${value}: ${reason}` });
    }
  },
  listSettings(folder) {
    try {
      return readdirSync(`/proc/sys/${folder}`);
    } catch {
      return [];
    }
  },
  bootId() {
    try {
      return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    } catch {
      return "";
    }
  },
};

const TIMEOUT_MS = 20_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const PLAIN_ENVIRONMENT = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin:/usr/bin:/bin`, LC_ALL: "C" };
const PACKAGES = { ip: "iproute2", nft: "nftables" };
