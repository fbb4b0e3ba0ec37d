// `npm start`: builds what changed, then runs the control plane. `npm start -- --demo` adds two hosts with live traffic.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { onceAskedToEnd } from "./lib/asked-to-end.mjs";
import { reportFailure } from "./lib/progress.mjs";
import { interrupt, root } from "./lib/run.mjs";

const usage = `Usage: npm start [-- OPTIONS]

  --demo           also start two hosts in network namespaces of their own, with gentle traffic between them
  --listen H:P     address the server listens on (default 0.0.0.0:7400; also WEFT_LISTEN)
  --json           print the server's log lines as they are (JSON)
  --help           this text

Data lives in .weft/server below this folder (WEFT_DATA_DIR moves it). DATABASE_URL names an external PostgreSQL.
`;

try {
  const { values } = parseArgs({
    options: {
      demo: { type: "boolean", default: false },
      listen: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) process.stdout.write(usage);
  else await start(values);
} catch (error) {
  reportFailure(error);
}

async function start({ demo, listen, json }) {
  let stop = interrupt;
  onceAskedToEnd(() => stop());
  await build();
  if (process.exitCode) return;
  const env = { ...process.env, ...(listen ? { WEFT_LISTEN: listen } : {}) };
  const program = demo ? "e2e/dist/demo/main.js" : "apps/api/dist/main.js";
  // A group of its own: the terminal's Ctrl-C then reaches the child once, through us, and it can stop in order. By the
  // channel it notices when we are killed.
  const child = spawn(process.execPath, [`${root}/${program}`], {
    cwd: root,
    env,
    stdio: ["ignore", json || demo ? "inherit" : "pipe", "inherit", "ipc"],
    detached: true,
  });
  if (child.stdout) createInterface({ input: child.stdout }).on("line", print);
  stop = () => child.kill("SIGTERM");
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGTERM" ? 0 : 1)));
}

/** One log line for people: time, level where it matters, message; the listening line says where to go. */
function print(line) {
  let entry;
  try {
    entry = JSON.parse(line);
  } catch {
    process.stdout.write(`${line}\n`);
    return;
  }
  if (entry.event === "listening") {
    process.stdout.write(`\n  weft is running: ${entry.url}\n`);
    if (entry.setupUrl) process.stdout.write(`  First time here? Create the owner account: ${entry.setupUrl}\n`);
    process.stdout.write("  Ctrl-C stops it; nothing is lost.\n\n");
    return;
  }
  const level = entry.level >= 50 ? "ERROR " : entry.level >= 40 ? "warning " : "";
  const time = new Date(entry.time ?? Date.now()).toTimeString().slice(0, 8);
  const detail = entry.err?.message ? `: ${entry.err.message}` : "";
  process.stdout.write(`${time} ${level}${entry.msg ?? String(entry.event ?? "").replaceAll("_", " ")}${detail}\n`);
}
