import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, chownSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./run.mjs";

/**
 * Starts a throwaway PostgreSQL from the system's packages on a free loopback port, for the tests that run on an external database.
 * Returns `{ url, stop }`, or `{ reason }` where there is none.
 */
export async function startExternalPostgres() {
  const programs = serverPrograms();
  if (!programs) return { reason: "no PostgreSQL server is installed (Debian: `postgresql`)" };
  const asUser = unprivilegedUser();
  if (asUser === undefined) return { reason: "running as root and there is no `postgres` user to run a server as" };

  const folder = mkdtempSync(join(tmpdir(), "weft-pg-"));
  if (asUser) chownSync(folder, asUser.uid, asUser.gid);
  const invoke = (program, args) => {
    const command = join(programs, program);
    return asUser
      ? run("setpriv", [`--reuid=${asUser.uid}`, `--regid=${asUser.gid}`, "--clear-groups", command, ...args], {
          cwd: "/",
        })
      : run(command, args, { cwd: "/" });
  };
  const data = join(folder, "data");
  await invoke("initdb", ["-D", data, "-U", "weft", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"]);
  const port = await freePort();
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder} -c fsync=off -c max_connections=200`;
  await invoke("pg_ctl", ["-D", data, "-w", "-t", "30", "-l", join(folder, "log"), "-o", options, "start"]);

  return {
    url: `postgres://weft@127.0.0.1:${port}/postgres`,
    async stop() {
      await invoke("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"]).catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

function serverPrograms() {
  const base = "/usr/lib/postgresql";
  const versions = existsSync(base) ? readdirSync(base).toSorted((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(base, version, "bin")).find((path) => existsSync(join(path, "initdb")));
  if (found) return found;
  const onPath = spawnSync("sh", ["-c", "command -v initdb"], { encoding: "utf8" }).stdout.trim();
  return onPath ? onPath.replace(/\/initdb$/, "") : null;
}

/** null: not root, run as ourselves. undefined: root without a user to hand the server to. */
function unprivilegedUser() {
  if (process.getuid() !== 0) return null;
  const ids = ["-u", "-g"].map((flag) =>
    Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout.trim() || "NaN"),
  );
  return ids.every(Number.isInteger) ? { uid: ids[0], gid: ids[1] } : undefined;
}
