import { err, ok, type JoinKey, type PeerId, type Result } from "@weft/protocol";

import { AGENT_VERSION } from "../settings/agent-version.ts";
import type { ServerAddress } from "../settings/server-url.ts";
import type { Identity } from "../state/identity.ts";
import type { HostFacts } from "../os/host-facts.ts";
import { openStream, type StreamDeps, type StreamEnd } from "./open-stream.ts";

export type EnrolRequest = {
  readonly address: ServerAddress;
  readonly joinKey: JoinKey;
  readonly identity: Identity;
  readonly wantedName: string;
  readonly host: HostFacts;
};

/** Spends an enrolment key: the server makes this node a peer and says which one. */
export function enrol(
  deps: StreamDeps,
  request: EnrolRequest,
): Promise<Result<{ readonly peerId: PeerId }, StreamEnd>> {
  const { bootId, counterEpoch, hostname, os, arch } = request.host;
  return new Promise((resolve) => {
    const end = openStream(
      deps,
      {
        address: request.address,
        serverKey: request.joinKey.serverKey,
        identity: request.identity,
        enrolmentKey: request.joinKey.secret,
        facts: {
          agentVersion: AGENT_VERSION,
          bootId,
          counterEpoch,
          lastMap: null,
          hostname,
          wantedName: request.wantedName,
          os,
          arch,
          capabilities: [],
        },
      },
      {
        onOpen(welcome, stream) {
          resolve(ok({ peerId: welcome.peerId }));
          stream.send({
            kind: "bye",
            reason: "agent_stopping",
            detail: "none",
            message: "enrolled",
            retryAfterMs: 0,
          });
          // The daemon opens its own stream; this one has done its work.
          queueMicrotask(() => end("enrolled"));
        },
        onFrame: () => {},
        onEnd: (reason) => resolve(err(reason)),
      },
    );
  });
}
