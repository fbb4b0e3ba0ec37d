import { Option, type Command } from "commander";

import { addAccess, type Run } from "./access-options.ts";
import { applyConfig, exportConfig, planConfig, type ConfigFlags } from "./run-config.ts";

/** `weft admin config export|plan|apply`: what the server is told, as a file. */
export function addConfig(admin: Command, run: Run): void {
  const config = admin.command("config").description("networks, policies, names, routes, … as one file");
  const verb = (name: string, description: string): Command =>
    addAccess(config.command(name).description(description)).option("--json", "print what the server answers");
  const withFile = (name: string, description: string): Command =>
    verb(name, description)
      .argument("<file>", "YAML or JSON; - reads standard input")
      .option("--prune", "delete what the file does not name, in the lists that it has")
      .option("--skip-absent-peers", "leave out routes of peers that have not joined");

  verb("export", "print the configuration of the server; secrets are not in it")
    .addOption(new Option("--format <format>", "yaml or json").choices(["yaml", "json"]).default("yaml"))
    .option("--output <file>", "write to a file, in place of the one that is there")
    .action((flags: ConfigFlags) => run(flags, (context) => exportConfig(context, flags)));
  withFile("plan", "show what a file would create, change and delete; exit code 11 when that is something").action(
    (file: string, flags: ConfigFlags) => run(flags, (context) => planConfig(context, file, flags)),
  );
  withFile("apply", "plan, show the plan, ask, and do it; all of it or nothing")
    .option("--tag <tag>", "do exactly what a plan with this tag showed, without another look")
    .option("--yes", "do not ask")
    .action((file: string, flags: ConfigFlags) => run(flags, (context) => applyConfig(context, file, flags)));
}
