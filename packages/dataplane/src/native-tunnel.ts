import { randomBytes } from "node:crypto";
import { keyBytes, type Result } from "@weft/protocol";
import type { Engine } from "./core/engine-port.ts";
import { createLocalIdentity } from "./core/handshake/identity.ts";
import { KEY_BYTES } from "./core/handshake/primitives.ts";
import { REKEY_AFTER_MS } from "./core/session-timers.ts";
import { createEngineTunnel } from "./engine-tunnel.ts";
import type { CounterNames } from "./io/counter-reader.ts";
import { createInterfaceControl } from "./io/interface-control.ts";
import { createNodePrimitives } from "./io/node-primitives.ts";
import { createNodeClock, createNodeScheduler } from "./io/node-scheduler.ts";
import { publicKeyOf } from "./keys.ts";
import { fromNativeError, nativeAddon, type NativeAddon } from "./native.ts";
import { nativeInterfacePort } from "./native-interface.ts";
import type { Tunnel, TunnelError, TunnelOptions } from "./tunnel.ts";

/** Opens a TUN interface with a running engine behind it, addressed and routed. Needs the right to make interfaces. */
export function createTunnel(options: TunnelOptions): Result<Tunnel, TunnelError> {
  const addon = nativeAddon();
  if (!addon.ok) return addon;
  const keyLength = options.privateKey.expose().length;
  if (keyLength !== KEY_BYTES) {
    return invalid(`A private key has ${KEY_BYTES} bytes, this one ${keyLength}.`);
  }
  const rekeyAfterSeconds = options.engine?.rekeyAfterSeconds ?? REKEY_AFTER_MS / 1_000;
  if (!(rekeyAfterSeconds >= 2 && rekeyAfterSeconds <= REKEY_AFTER_MS / 1_000)) {
    return invalid(`rekeyAfterSeconds must be 2 to ${REKEY_AFTER_MS / 1_000}, not ${rekeyAfterSeconds}.`);
  }
  const publicKey = publicKeyOf(options.privateKey);
  const interfaceControl = createInterfaceControl(nativeInterfacePort(addon.value, options.interfaceName));
  const made = createEngineTunnel({
    publicKey,
    local: createLocalIdentity(createNodePrimitives(), options.privateKey.expose()),
    random: options.random ?? ((byteCount) => new Uint8Array(randomBytes(byteCount))),
    clock: options.clock ?? createNodeClock(),
    scheduler: createNodeScheduler(),
    peersMax: options.engine?.peersMax ?? PEERS_MAX_DEFAULT,
    rekeyAfterMs: rekeyAfterSeconds * 1_000,
    interfaceControl,
    self: options,
    checksumElision: options.engine?.checksumElision ?? "auto",
    ...(options.conceal ? { conceal: options.conceal } : {}),
    counterNames: counterNamesOf(addon.value),
    onEvent: options.onEvent,
    startEngine: (wake) => startEngine(addon.value, options, { publicKey: keyBytes(publicKey), wake }),
  });
  if (!made.ok) return made;
  const addressed = interfaceControl.replaceSelf(options);
  if (addressed.ok) return made;
  made.value.close();
  return addressed;
}

function startEngine(
  addon: NativeAddon,
  options: TunnelOptions,
  own: { readonly publicKey: Uint8Array; readonly wake: () => void },
): Result<Engine, TunnelError> {
  try {
    const { rekeyAfterSeconds: _slowPathOnly, ...tuning } = options.engine ?? {};
    const engineOptions = {
      peersMax: PEERS_MAX_DEFAULT,
      ...tuning,
      tunName: options.interfaceName,
      tunMtu: options.mtu,
      listenPort: options.listenPort,
      publicKey: own.publicKey,
    };
    return { ok: true, value: new addon.Engine(engineOptions, own.wake) };
  } catch (thrown) {
    const error = fromNativeError(thrown, "engine_failed");
    return { ok: false, error: error.code === "port_in_use" ? { ...error, port: options.listenPort } : error };
  }
}

function counterNamesOf(addon: NativeAddon): CounterNames {
  return {
    peers: addon.peerCounterNames(),
    shards: addon.shardCounterNames(),
    stages: addon.stageNames(),
    totals: addon.totalCounterNames(),
    rules: addon.ruleCounterNames(),
    flows: addon.flowNames(),
  };
}

function invalid(message: string): Result<never, TunnelError> {
  return { ok: false, error: { code: "invalid_option", message } };
}

const PEERS_MAX_DEFAULT = 16_384;
