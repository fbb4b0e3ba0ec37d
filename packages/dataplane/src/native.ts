import type { Result } from "@weft/protocol";
import type { Engine } from "./core/engine-port.ts";
import type { CipherSpeed } from "./cipher-choice.ts";
import type { TunnelError } from "./tunnel.ts";

/** The addon's surface as this package uses it. */
export type NativeAddon = {
  readonly Engine: new (options: NativeEngineOptions, onEvents: () => void) => Engine;
  readonly CpuProfiler: {
    readonly start: (options: {
      readonly frequencyHz: number;
      readonly durationMsMax: number;
      readonly atMost: "kernel" | "user" | "threads";
    }) => NativeCpuProfiler;
  };
  readonly peerCounterNames: () => string[];
  readonly shardCounterNames: () => string[];
  readonly stageNames: () => string[];
  readonly totalCounterNames: () => string[];
  readonly ruleCounterNames: () => string[];
  readonly flowNames: () => string[];
  readonly linkInfo: (name: string) => { index: number; mtu: number; up: boolean } | null;
  readonly links: () => NativeLink[];
  readonly setLink: (name: string, change: { mtu?: number; up?: boolean }) => void;
  readonly deleteLink: (name: string) => void;
  readonly addAddress: (name: string, cidr: string) => void;
  readonly removeAddress: (name: string, cidr: string) => void;
  readonly addRoute: (name: string, cidr: string) => void;
  readonly removeRoute: (name: string, cidr: string) => void;
  readonly measureCiphers: () => CipherSpeed[];
  readonly ping: (address: string, timeoutMs: number) => Promise<number>;
};

export type NativeCpuProfiler = { readonly stop: () => Promise<NativeCpuProfile> };

export type NativeCpuProfile = {
  readonly method: "kernel" | "user" | "threads";
  readonly reason?: string;
  readonly durationMs: number;
  readonly frequencyHz: number;
  readonly lost: number;
  readonly stacks: readonly { readonly thread: string; readonly frames: readonly string[]; readonly count: number }[];
};

type NativeEngineOptions = {
  readonly tunName: string;
  readonly tunMtu: number;
  readonly listenPort: number;
  readonly publicKey: Uint8Array;
  readonly tunOffload?: "auto" | "tcp" | "off";
  readonly shards?: number;
  readonly peersMax?: number;
  readonly socketBufferBytes?: number;
  readonly udpGso?: "auto" | "off";
  readonly udpGro?: "auto" | "off";
  readonly udpBatch?: "auto" | "off";
  readonly io?: "auto" | "epoll" | "io_uring";
  readonly gsoMaxSegments?: number;
  readonly gsoEqualTail?: "auto" | "allow" | "avoid";
  readonly groFlows?: number;
  readonly udpPortsNeverMerged?: number[];
  readonly tunQueueLen?: number;
  readonly flowsMax?: number;
  readonly niceness?: number;
  readonly firewallMark?: number;
  readonly stageTiming?: "on" | "off";
};

export type NativeLink = { name: string; index: number; mtu: number; up: boolean; addresses: string[] };

/** The addon; an error that says what to do when it is not there. */
export function nativeAddon(): Result<NativeAddon, TunnelError> {
  return loaded;
}

/** Turns what the addon throws into our error; `fallback` is the code for everything the addon does not name. */
export function fromNativeError(thrown: unknown, fallback: "interface_failed" | "engine_failed"): TunnelError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = propertyOf(thrown, "code");
  switch (code) {
    case "tun_permission":
    case "tun_busy":
    case "invalid_option":
      return { code, message };
    case "port_in_use":
      return { code, message, port: 0 };
    default:
      return fallback === "engine_failed"
        ? { code: fallback, message }
        : { code: fallback, message, errno: errnoOf(thrown) };
  }
}

export function errnoOf(thrown: unknown): number | null {
  const errno = propertyOf(thrown, "errno");
  return typeof errno === "number" ? Math.abs(errno) : null;
}

async function load(): Promise<Result<NativeAddon, TunnelError>> {
  try {
    const addon: NativeAddon = await import("node-tun");
    if (ADDON_EXPORTS.every((name) => typeof addon[name] === "function")) return { ok: true, value: addon };
    return missing("The native addon node-tun is of another version; build it again with: npm run build");
  } catch (thrown) {
    const detail = thrown instanceof Error ? thrown.message : String(thrown);
    return missing(`The native addon node-tun is not built; run: npm run build (${detail})`);
  }
}

function missing(message: string): Result<NativeAddon, TunnelError> {
  return { ok: false, error: { code: "addon_missing", message } };
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

const ADDON_EXPORTS: readonly (keyof NativeAddon)[] = [
  "Engine",
  "peerCounterNames",
  "shardCounterNames",
  "stageNames",
  "totalCounterNames",
  "ruleCounterNames",
  "flowNames",
  "linkInfo",
  "links",
  "setLink",
  "deleteLink",
  "addAddress",
  "removeAddress",
  "addRoute",
  "removeRoute",
  "measureCiphers",
  "ping",
];

const loaded = await load();
