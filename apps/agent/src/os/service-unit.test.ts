import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const script = readFileSync(join(import.meta.dirname, "../../install/install.sh"), "utf8");

test("the service may do what the agent does: network, names, priority, and profiles of itself", () => {
  expect(words("CapabilityBoundingSet")).toEqual([
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_NET_BIND_SERVICE",
    "CAP_SYS_NICE",
    "CAP_PERFMON",
  ]);
  // systemd has this call in @debug, which holds too much.
  expect(words("SystemCallFilter")).toEqual(["@system-service", "perf_event_open"]);
});

test("the service reads the operator's settings where there are some, and the script never touches that file", () => {
  expect(words("EnvironmentFile")).toEqual(["-/etc/weft/agent.env"]);
  expect(script.split("/etc/weft")).toHaveLength(2);
});

function words(setting: string): string[] {
  const values = [...script.matchAll(new RegExp(`^${setting}=(.*)$`, "gm"))].flatMap(([, value]) => value ?? []);
  return values.flatMap((value) => value.split(" "));
}
