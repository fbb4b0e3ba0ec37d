import { expect, test } from "vitest";

import type { Agent } from "../harness/agents.ts";
import { eventually } from "../harness/eventually.ts";
import { kernelErrors } from "../harness/kernel-counters.ts";
import { startMesh, stopMesh } from "../harness/mesh.ts";
import { whyNoMesh } from "../harness/tools.ts";
import { exchangeDatagrams, transferBytes } from "../harness/traffic.ts";

type Environment = Readonly<Record<string, string>>;
type PeerProfile = { readonly profile: string; readonly cipher: string; readonly elision: string };

const FORCED: Environment = { WEFT_CIPHER: "aes-256-gcm" };

test.for<[string, Environment, Environment, PeerProfile]>([
  [
    "AES-256-GCM and elision where both offer them",
    FORCED,
    FORCED,
    { profile: "active", cipher: "aes-256-gcm", elision: "on" },
  ],
  [
    "WireGuard's cipher where one offers nothing else",
    FORCED,
    { WEFT_CIPHER: "chacha20" },
    { profile: "active", cipher: "chacha20-poly1305", elision: "on" },
  ],
  [
    "plain WireGuard where one offers nothing",
    FORCED,
    { WEFT_CIPHER: "chacha20", WEFT_CHECKSUM_ELISION: "off" },
    { profile: "plain", cipher: "chacha20-poly1305", elision: "off" },
  ],
])("a pair settles on %s, and no checksum error follows", async ([, ada, grace, expected], { skip }) => {
  const reason = whyNoMesh();
  if (reason !== undefined) skip(reason);
  try {
    const mesh = await startMesh({ ada, grace });
    for (const agent of [mesh.ada, mesh.grace]) {
      const settled = await eventually("the profile of the pair", { withinMs: 20_000 }, async () => {
        const profile = await profileOf(agent);
        return profile?.profile === expected.profile ? profile : undefined;
      });
      expect(settled).toMatchObject(expected);
    }
    for (const road of [mesh.road, mesh.wayBack]) {
      expect(await transferBytes(road, 100_000_000)).toMatchObject({ receivedBytes: 100_000_000, identical: true });
      expect(await exchangeDatagrams(road, 1_372)).toMatchObject({ identical: 1_373, altered: 0, lost: 0 });
    }
    for (const { host } of [mesh.ada, mesh.grace]) {
      expect(await kernelErrors(host)).toMatchObject({ tcpChecksum: 0, udpChecksum: 0 });
    }
  } finally {
    await stopMesh();
  }
});

/** What `weft status --json` says about the one other host. */
async function profileOf(agent: Agent): Promise<PeerProfile | undefined> {
  const { stdout } = await agent.weft("status", "--json");
  const { peers }: { readonly peers: readonly PeerProfile[] } = JSON.parse(stdout);
  return peers[0];
}
