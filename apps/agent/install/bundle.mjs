// Makes what a control plane hands to hosts: `release/install.sh` and `release/weft-agent-linux-ARCH.tar.gz`, which holds the
// agent, its addon and, where it can stand alone, the Node.js runtime. Needs the TypeScript build and the addon.
import { spawn } from "node:child_process";
import {
  copyFileSync,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createGzip } from "node:zlib";
import { bundleCode } from "./bundle-code.mjs";
import { thirdPartyText } from "./licences.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const agent = dirname(here);
const root = dirname(dirname(agent));
const release = join(agent, "release");
const STANDALONE_BYTES_MIN = 60 * 1024 * 1024;
/** Higher ones take several times as long for a few percent. */
const GZIP_LEVEL = 4;

mkdirSync(release, { recursive: true });
const work = mkdtempSync(join(release, ".work-"));
try {
  const stage = join(work, "stage");
  await fill(stage);
  const archive = join(work, "archive.tar.gz");
  await pack(stage, archive);
  copyFileSync(join(here, "install.sh"), join(work, "install.sh"));
  renameSync(archive, join(release, `weft-agent-linux-${process.arch}.tar.gz`));
  renameSync(join(work, "install.sh"), join(release, "install.sh"));
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function fill(stage) {
  for (const folder of ["bin", "lib"]) mkdirSync(join(stage, folder), { recursive: true });
  const packages = await bundleCode(join(agent, "bin", "weft.js"), join(stage, "lib"));
  for (const addon of addons()) copyFileSync(join(root, "native", "npm", addon), join(stage, "lib", addon));
  const runtime = standsAlone(process.execPath) ? process.execPath : null;
  if (runtime) copyFileSync(runtime, join(stage, "lib", "node"));
  copyFileSync(join(here, "launcher.sh"), join(stage, "bin", "weft"));
  copyFileSync(join(root, "LICENSE"), join(stage, "LICENSE"));
  writeFileSync(
    join(stage, "THIRD-PARTY.txt"),
    thirdPartyText({ packages, nativeFolder: join(root, "native"), runtime }),
  );
}

function addons() {
  const names = readdirSync(join(root, "native", "npm")).filter((name) =>
    name.startsWith(`node-tun.linux-${process.arch}-`),
  );
  if (names.length === 0) throw new Error("the addon is not built: npm run build");
  return names;
}

/** A distribution's Node.js is a small program over a library of its own; the official one is one large file. */
function standsAlone(program) {
  return statSync(program).size > STANDALONE_BYTES_MIN;
}

/** The same content gives the same bytes, so that an unchanged agent keeps its digest. */
async function pack(stage, archive) {
  const options = [
    "--format=ustar",
    "--sort=name",
    "--mtime=@0",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=u=rwX,go=rX",
  ];
  const tar = spawn("tar", [...options, "-C", stage, "-cf", "-", "--", ...readdirSync(stage).toSorted()], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve, reject) => tar.on("error", reject).on("close", resolve));
  await pipeline(tar.stdout, createGzip({ level: GZIP_LEVEL }), createWriteStream(archive));
  const code = await ended;
  if (code !== 0) throw new Error(`tar ended with ${code}; packing the agent needs GNU tar`);
}
