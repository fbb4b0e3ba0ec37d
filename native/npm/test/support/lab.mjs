// Two hosts as network namespaces joined by a veth pair, an engine in each.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const hostProgram = fileURLToPath(new URL("host.mjs", import.meta.url));
const outer = [
  { v4: "192.0.2.1", v6: "2001:db8:ffff::1" },
  { v4: "192.0.2.2", v6: "2001:db8:ffff::2" },
];
const inner = [
  { v4: "10.77.0.1", v6: "fd77::1" },
  { v4: "10.77.0.2", v6: "fd77::2" },
];

/** Whether this process may make namespaces. */
export function canMakeNamespaces() {
  try {
    const name = `nt-probe-${process.pid}`;
    run("ip", "netns", "add", name);
    run("ip", "netns", "del", name);
    return true;
  } catch {
    return false;
  }
}

/** Two namespaces with a veth pair between them. */
export function createLab(label) {
  const names = ["a", "b"].map((side) => `nt-${label}-${process.pid}-${side}`);
  names.forEach((name) => run("ip", "netns", "add", name));
  run("ip", "-n", names[0], "link", "add", "veth0", "type", "veth", "peer", "name", "veth0", "netns", names[1]);
  names.forEach((name, at) => {
    run("ip", "-n", name, "addr", "add", `${outer[at].v4}/24`, "dev", "veth0");
    run("ip", "-n", name, "addr", "add", `${outer[at].v6}/64`, "dev", "veth0", "nodad");
    run("ip", "-n", name, "link", "set", "veth0", "up");
    run("ip", "-n", name, "link", "set", "lo", "up");
  });
  // The kernel takes note of a link that came up within a second; until then nobody answers for an IPv6 address, and what is
  // sent waits for a second question.
  for (const address of [outer[1].v4, outer[1].v6]) {
    run("ip", "netns", "exec", names[0], "ping", "-n", "-q", "-c", "1", "-i", "0.05", "-w", "30", address);
  }
  return {
    names,
    outer,
    inner,
    exec: (at, ...command) => run("ip", "netns", "exec", names[at], ...command),
    spawn: (at, ...command) =>
      spawn("ip", ["netns", "exec", names[at], ...command], { stdio: ["ignore", "pipe", "pipe"] }),
    kernelDrops: (from, to) => kernelDrops(names[from], names[to]),
    remove: () => names.forEach((name) => run("ip", "netns", "del", name)),
  };
}

/** Buffers the kernel dropped since the lab was made on the way from one host's socket to the other's, by place. */
function kernelDrops(from, to) {
  const veth = (name) => JSON.parse(run("ip", "-n", name, "-s", "-j", "link", "show", "dev", "veth0"))[0].stats64;
  const protocol = (name, file) => run("ip", "netns", "exec", name, "cat", `/proc/net/${file}`);
  const [titles, values] = protocol(to, "snmp")
    .split("\n")
    .filter((line) => line.startsWith("Udp:"))
    .map((line) => line.split(" "));
  return {
    sentOnLink: veth(from).tx.dropped,
    receivedFromLink: veth(to).rx.dropped,
    receivedOverV4: Number(values[titles.indexOf("InErrors")]),
    receivedOverV6: Number(/^Udp6InErrors\s+(\d+)/m.exec(protocol(to, "snmp6"))[1]),
  };
}

/** Starts both engines with keys for each other; `overrides` change the set-up of both. */
export async function startPair(lab, overrides = {}) {
  const { over = "v4", engine = {}, through } = overrides;
  const setups = [0, 1].map((at) => ({
    through,
    engine: { listenPort: 51820, ...engine },
    addresses: [`${inner[at].v4}/24`, `${inner[at].v6}/64`],
    allowedIps: [`${inner[1 - at].v4}/32`, `${inner[1 - at].v6}/128`],
    endpoint: { address: outer[1 - at][over], port: 51820 },
    session: {
      localIndex: 100 + at,
      remoteIndex: 101 - at,
      role: at === 0 ? "initiator" : "responder",
      sendKey: at === 0 ? 1 : 2,
      receiveKey: at === 0 ? 2 : 1,
    },
  }));
  // The responder first: the initiator confirms the session at once.
  const second = await startHost(lab, 1, setups[1]);
  const first = await startHost(lab, 0, setups[0]);
  return [first, second];
}

/** Starts one engine; `setup.through` is a command that runs the command behind it. */
export async function startHost(lab, at, { through = [], ...setup }) {
  const program = [...through, process.execPath, hostProgram, JSON.stringify(setup)];
  const child = spawn("ip", ["netns", "exec", lab.names[at], ...program], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ask = async (request) => {
    const answer = once(child, "message");
    child.send(request);
    return (await answer)[0];
  };
  const exited = once(child, "exit");
  await Promise.race([once(child, "message"), exited.then(() => Promise.reject(new Error("the host ended early")))]);
  return {
    pid: child.pid,
    report: () => ask("report"),
    async close() {
      await ask("close");
      await exited;
    },
  };
}

function run(program, ...args) {
  return execFileSync(program, args, { encoding: "utf8", timeout: 60_000 });
}
