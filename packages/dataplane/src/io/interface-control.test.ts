import { parsePrefix, type Prefix } from "@weft/protocol";
import { expect, test } from "vitest";
import { createInterfaceControl, type InterfaceControl } from "./interface-control.ts";

test("sets addresses before the interface comes up and routes after it", () => {
  const { control, calls } = record();

  control.replaceSelf({ addresses: [A], routes: [NET], mtu: 1_420 });

  expect(calls).toEqual([`add ${A}`, "up 1420", `route ${NET}`]);
});

test("does nothing when nothing changed", () => {
  const { control, calls } = record();
  control.replaceSelf({ addresses: [A], routes: [NET], mtu: 1_420 });
  calls.length = 0;

  control.replaceSelf({ addresses: [A], routes: [NET], mtu: 1_420 });

  expect(calls).toEqual([]);
});

test("moves to a new address without a moment of none, and sets the routes again that the kernel dropped", () => {
  const { control, calls } = record();
  control.replaceSelf({ addresses: [A], routes: [NET], mtu: 1_420 });
  calls.length = 0;

  control.replaceSelf({ addresses: [B], routes: [NET], mtu: 1_420 });

  expect(calls).toEqual([`add ${B}`, `remove ${A}`, `route ${NET}`]);
});

test("stops at the first refusal, reports it, and tries again the next time", () => {
  const { control, calls, refuse } = record();
  refuse("route");

  const first = control.replaceSelf({ addresses: [A], routes: [NET], mtu: 1_420 });
  refuse(null);
  const second = control.replaceSelf({ addresses: [A], routes: [NET], mtu: 1_420 });

  expect(first).toMatchObject({ ok: false, error: { code: "interface_failed" } });
  expect(second.ok).toBe(true);
  expect(calls.at(-1)).toBe(`route ${NET}`);
});

type Recorded = {
  readonly control: InterfaceControl;
  readonly calls: string[];
  readonly refuse: (verb: string | null) => void;
};

function record(): Recorded {
  const calls: string[] = [];
  let refused: string | null = null;
  const call = (verb: string, detail: string | number): void => {
    if (verb === refused) throw new Error(`no ${verb}`);
    calls.push(`${verb} ${detail}`);
  };
  const control = createInterfaceControl({
    bringUp: (mtu) => call("up", mtu),
    addAddress: (prefix) => call("add", prefix),
    removeAddress: (prefix) => call("remove", prefix),
    addRoute: (prefix) => call("route", prefix),
    removeRoute: (prefix) => call("unroute", prefix),
    explain: (thrown) => ({ code: "interface_failed", message: String(thrown), errno: null }),
  });
  return { control, calls, refuse: (verb) => void (refused = verb) };
}

function prefix(text: string): Prefix {
  const parsed = parsePrefix(text);
  if (!parsed.ok) throw new Error(parsed.error.detail);
  return parsed.value;
}

const A = prefix("100.64.0.1/32");
const B = prefix("100.64.0.2/32");
const NET = prefix("100.64.0.0/16");
