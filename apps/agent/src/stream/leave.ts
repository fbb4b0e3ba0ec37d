import { err, ok, type Result, type ServerKey } from "@weft/protocol";

import type { HostFacts } from "../os/host-facts.ts";
import { AGENT_VERSION } from "../settings/agent-version.ts";
import type { ServerAddress } from "../settings/server-url.ts";
import type { Identity } from "../state/identity.ts";
import { openStream, type StreamDeps, type StreamEnd } from "./open-stream.ts";

export type LeaveRequest = {
  readonly address: ServerAddress;
  readonly serverKey: ServerKey;
  readonly identity: Identity;
  readonly host: HostFacts;
};

/** Deregisters a node whose daemon does not run. */
export function leaveNetwork(deps: StreamDeps, request: LeaveRequest): Promise<Result<undefined, StreamEnd>> {
  const { bootId, counterEpoch, hostname, os, arch } = request.host;
  return new Promise((resolve) => {
    let cancelTimeout = (): void => {};
    const end = openStream(
      deps,
      {
        ...request,
        enrolmentKey: null,
        facts: {
          agentVersion: AGENT_VERSION,
          bootId,
          counterEpoch,
          lastMap: null,
          hostname,
          wantedName: "",
          os,
          arch,
          capabilities: [],
        },
      },
      {
        onOpen(_, stream) {
          stream.send({ kind: "leave" });
          cancelTimeout = deps.timers.after(CONFIRM_TIMEOUT_MS, () => end("the server did not confirm"));
        },
        onFrame(frame) {
          if (frame.kind !== "bye" || frame.reason !== "removed") return;
          resolve(ok(undefined));
          end("left");
        },
        onEnd(reason) {
          cancelTimeout();
          // A server that has already forgotten this node has nothing left to confirm.
          const gone = reason.code === "refused" && (reason.reason === "removed" || reason.detail === "unknown_node");
          resolve(gone ? ok(undefined) : err(reason));
        },
      },
    );
  });
}

const CONFIRM_TIMEOUT_MS = 5_000;
