/**
 * The closed room of the demo: runs inside namespaces of its own and holds a bridge, the hosts, their agents and the
 * traffic between them. Usage: node stage.js FOLDER. Commands come in on standard input; when that closes, it ends.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { argv } from "../harness/argv.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { createLab, type Host } from "../harness/namespaces.ts";
import { startProgram } from "../harness/programs.ts";
import { builtProgram, repositoryPath } from "../harness/repository.ts";
import { mustRun } from "../harness/run-command.ts";
import { findProgram } from "../harness/tools.ts";
import { ToStageSchema, type FromStage, type ToStage } from "./stage-protocol.ts";

const HUB_ADDRESS = "192.0.2.1";
const SERVER_PORT = 7_400;
const TRAFFIC_PORT = 7_500;
const folder = process.argv[2] ?? "";
let ending = false;
const hosts = new Map<string, Host>();
const hub = await build();

say({ kind: "ready" });
createInterface({ input: process.stdin })
  .on("line", (line) => void obey(line))
  .on("close", () => void end());

async function build() {
  // A private folder for names of namespaces: they vanish with this process and need no rights outside.
  await mustRun("mount", ["-t", "tmpfs", "tmpfs", existsSync("/run/netns") ? "/run/netns" : "/run"]);
  mkdirSync("/run/netns", { recursive: true });
  const lab = await createLab();
  const centre = await lab.host("hub");
  const relay = startProgram({
    name: "relay",
    program: process.execPath,
    args: [builtProgram("harness/socket-relay.js"), "0.0.0.0", String(SERVER_PORT), join(folder, "api.sock")],
    host: centre,
  });
  await relay.waitForLine("ready", 10_000, (line) => (line === "ready" ? true : undefined));
  return { lab, centre };
}

async function obey(line: string): Promise<void> {
  try {
    const command = ToStageSchema.parse(JSON.parse(line));
    switch (command.kind) {
      case "join":
        return await joinAll(command);
      case "traffic":
        return await startTraffic(command);
    }
  } catch (error) {
    say({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
  }
}

async function joinAll({ key, hosts: names }: Extract<ToStage, { kind: "join" }>): Promise<void> {
  for (const name of names) hosts.set(name, await hub.lab.host(name));
  const plugs = [...hosts.values()].map((host, index) => ({
    host,
    interfaceName: "eth0",
    addresses: [`192.0.2.${String(11 + index)}/24`, `2001:db8::${String(11 + index)}/64`],
  }));
  const bridge = { host: hub.centre, interfaceName: "bridge0", addresses: [`${HUB_ADDRESS}/24`, "2001:db8::1/64"] };
  await hub.lab.bridge(bridge, plugs);
  for (const [name, host] of hosts) joinOne(name, host, key);
}

/** Joins one host and keeps its daemon in the foreground; it speaks up only when it ends. */
function joinOne(name: string, host: Host, key: string): void {
  const agent = startProgram({
    name: `agent ${name}`,
    program: process.execPath,
    args: argv`${repositoryPath("apps", "agent", "bin", "weft.js")} join http://${HUB_ADDRESS}:${SERVER_PORT} ${key}
      --foreground --name ${name} --state-dir ${join(folder, name)} --interface weft0`,
    host,
    // The hosts of the demo share the resolver file of the machine, which the demo leaves alone.
    env: { WEFT_DNS: "answer" },
  });
  say({ kind: "joining", host: name });
  const watch = async (): Promise<void> => {
    const code = await agent.ended;
    if (!ending)
      say({ kind: "failed", reason: `agent ${name} ended with ${String(code)}: ${agent.logs().slice(-1_000)}` });
  };
  void watch();
}

async function startTraffic(command: Extract<ToStage, { kind: "traffic" }>): Promise<void> {
  const [from, to] = [hosts.get(command.from), hosts.get(command.to)];
  if (!from || !to) throw new Error(`no host ${command.from} or ${command.to} on the stage`);
  const program = builtProgram("demo/traffic.js");
  const common = { program: process.execPath };
  const sink = startProgram({
    ...common,
    name: "traffic sink",
    args: argv`${program} serve ${command.address} ${TRAFFIC_PORT}`,
    host: to,
  });
  await sink.waitForLine("ready", 10_000, (line) => (line === "ready" ? true : undefined));
  const source = startProgram({
    ...common,
    name: "traffic source",
    args: argv`${program} send ${command.address} ${TRAFFIC_PORT}`,
    host: from,
  });
  await source.waitForLine("flowing", 30_000, (line) => (line === "flowing" ? true : undefined));
  if (findProgram("ping")) {
    startProgram({ name: "ping", program: "ping", args: argv`-n -q -i 1 ${command.address}`, host: from });
  }
  say({ kind: "flowing" });
}

function say(message: FromStage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function end(): Promise<void> {
  ending = true;
  await cleanUpNow();
  process.exit(0);
}
