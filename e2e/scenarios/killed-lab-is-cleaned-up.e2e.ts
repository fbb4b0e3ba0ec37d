import { expect, test } from "vitest";

import { cleanUpNow } from "../harness/cleanup.ts";
import { createLab } from "../harness/namespaces.ts";
import { startProgram } from "../harness/programs.ts";
import { builtProgram } from "../harness/repository.ts";
import { runCommand } from "../harness/run-command.ts";
import { whyNoNamespaces } from "../harness/tools.ts";

test("the namespaces of a killed run and what ran in them are removed by the next run", async ({ skip }) => {
  const reason = whyNoNamespaces();
  if (reason !== undefined) skip(reason);
  try {
    const killed = startProgram({
      name: "a lab that is killed",
      program: process.execPath,
      args: ["--input-type=module", "--eval", LAB_WITH_A_PROCESS],
    });
    const namespace = await killed.waitForLine("namespace", 10_000, (line) => /^namespace (\S+)$/.exec(line)?.[1]);
    killed.signal("SIGKILL");
    await killed.ended;
    expect(await namespaces()).toContain(namespace);

    const lab = await createLab();

    expect(await namespaces()).not.toContain(namespace);
    await lab.dispose();
  } finally {
    await cleanUpNow();
  }
});

async function namespaces(): Promise<string> {
  return (await runCommand("ip", ["netns", "list"])).stdout;
}

const LAB_WITH_A_PROCESS = `
  import { createLab } from ${JSON.stringify(builtProgram("harness/namespaces.js"))};
  const host = await (await createLab()).host("left");
  console.log("namespace " + host.namespace);
  await host.run("sleep", ["60"]);
`;
