import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { argv } from "../../harness/argv.ts";
import { cleanUpLater } from "../../harness/cleanup.ts";
import { eventually } from "../../harness/eventually.ts";
import { startProgram, type Program } from "../../harness/programs.ts";
import { provideCrate } from "../../harness/provide-plain.ts";
import { makeWireguardKeys } from "../../harness/wireguard-keys.ts";
import { answersPing } from "../load/ping.ts";
import { YIP_MTU } from "../settings.ts";
import { UNDERLAY_ADDRESSES, type Site } from "../site.ts";
import type { Contender, Started } from "./contender.ts";

/** A tunnel with a protocol of its own. Its datagrams carry less than WireGuard's: its inner MTU is smaller than all others'. */
export const yip: Contender = {
  name: "yip",
  async start(site) {
    const given = process.env["WEFT_BENCH_YIP"];
    if (given !== undefined && !existsSync(given)) return { ok: false, reason: `WEFT_BENCH_YIP: no ${given}` };
    const provided = given === undefined ? await provideCrate(CRATE) : { path: given };
    return "reason" in provided ? { ok: false, reason: provided.reason } : startPair(provided.path, site);
  },
};

async function startPair(path: string, site: Site): Promise<Started> {
  const keys = { a: makeWireguardKeys(), b: makeWireguardKeys() };
  const folder = await mkdtemp(join(tmpdir(), "weft-yip-"));
  cleanUpLater({ name: folder, run: () => rm(folder, { recursive: true, force: true }) });
  const programs: Program[] = [];
  for (const [end, other] of [
    ["a", "b"],
    ["b", "a"],
  ] as const) {
    const file = join(folder, end);
    const settings = [
      `local_private=${keys[end].privateKey.toString("hex")}`,
      `local_public=${keys[end].publicKey.toString("hex")}`,
      `listen=${UNDERLAY_ADDRESSES[end]}:${String(LISTEN_PORT)}`,
      `device=${DEVICE}`,
      "[peer]",
      `public_key=${keys[other].publicKey.toString("hex")}`,
      `endpoint=${UNDERLAY_ADDRESSES[other]}:${String(LISTEN_PORT)}`,
    ];
    await writeFile(file, `${settings.join("\n")}\n`, { mode: 0o600 });
    const host = site[end];
    const program = startProgram({ name: `yip in ${host.label}`, program: path, args: [file], host });
    programs.push(program);
    await eventually(`the device of ${program.name}`, { withinMs: START_MS }, async () => {
      if (!program.isRunning()) throw new Error(`it ended: ${program.logs().slice(-500)}`);
      return (await host.run("ip", argv`link show dev ${DEVICE}`)).code === 0 ? true : undefined;
    });
    await host.must("ip", argv`address add ${V4[end]}/24 dev ${DEVICE}`);
    await host.must("ip", argv`address add ${V6[end]}/64 dev ${DEVICE} nodad`);
    await host.must("ip", argv`link set ${DEVICE} mtu ${YIP_MTU} up`);
  }
  await eventually("a first ping through yip", { withinMs: START_MS }, async () =>
    (await answersPing(site.a, V4.b)) ? true : undefined,
  );
  return {
    ok: true,
    tunnel: {
      interfaces: { a: DEVICE, b: DEVICE },
      v4: V4,
      v6: V6,
      daemonPids: programs.map((program) => program.pid),
      whyBroken: () => {
        const dead = programs.find((program) => !program.isRunning());
        return dead === undefined ? undefined : `${dead.name} ended: ${dead.logs().slice(-300)}`;
      },
      stop: async () => {
        await Promise.all(programs.map((program) => program.stop()));
      },
    },
  };
}

const CRATE = { crate: "yipd", version: "0.1.0", program: "yipd" };
const V4 = { a: "10.9.0.1", b: "10.9.0.2" } as const;
const V6 = { a: "fd09::1", b: "fd09::2" } as const;
const DEVICE = "yip0";
const LISTEN_PORT = 51_821;
const START_MS = 20_000;
