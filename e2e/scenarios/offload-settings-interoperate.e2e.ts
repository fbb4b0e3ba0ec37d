import { expect, test } from "vitest";

import { kernelErrors } from "../harness/kernel-counters.ts";
import { startMesh, stopMesh } from "../harness/mesh.ts";
import { whyNoMesh } from "../harness/tools.ts";
import { exchangeDatagrams, transferBytes } from "../harness/traffic.ts";

type Environment = Readonly<Record<string, string>>;

const ALL: Environment = {};
const TCP_ONLY: Environment = { WEFT_TUN_OFFLOAD: "tcp" };
const NO_TUN: Environment = { WEFT_TUN_OFFLOAD: "off" };
const NO_UDP: Environment = { WEFT_UDP_GSO: "off", WEFT_UDP_GRO: "off" };
const NOTHING: Environment = { ...NO_TUN, ...NO_UDP };
/** Checksums are finished by the sender, as without link profiles. */
const NO_ELISION: Environment = { WEFT_CHECKSUM_ELISION: "off" };
/** Workers wait and read through rings. */
const RINGS: Environment = { WEFT_IO: "io_uring" };
const CHACHA: Environment = { WEFT_CIPHER: "chacha20" };
const AES: Environment = { WEFT_CIPHER: "aes-256-gcm" };

test.for<[string, Environment, Environment]>([
  ["everything on one side, nothing on the other", ALL, NOTHING],
  ["TUN offload for TCP only against socket offload only", TCP_ONLY, NO_TUN],
  ["TUN offload without socket offload on both sides", NO_UDP, NO_UDP],
  ["checksums elided towards a plain device", AES, { ...AES, ...NO_TUN }],
  ["checksums elided under ChaCha20 and sockets without offload", CHACHA, NO_UDP],
  ["elision switched off on one side", NO_ELISION, ALL],
  ["io_uring on one side, epoll on the other", RINGS, ALL],
  ["io_uring without offloads on both sides", { ...RINGS, ...NOTHING }, { ...RINGS, ...NO_UDP }],
])("E2E-02 E2E-14 OPN-13 P-08 P-44 bytes and datagrams are the same with %s", async ([, ada, grace], { skip }) => {
  const reason = whyNoMesh();
  if (reason !== undefined) skip(reason);
  try {
    const mesh = await startMesh({ ada, grace });
    for (const road of [mesh.road, mesh.wayBack]) {
      expect(await transferBytes(road, 20_000_000)).toMatchObject({ receivedBytes: 20_000_000, identical: true });
      expect(await exchangeDatagrams(road, 1_372)).toMatchObject({
        identical: 1_373,
        altered: 0,
        lost: 0,
        reordered: 0,
      });
    }
    expect(await kernelErrors(mesh.ada.host)).toMatchObject({ tcpChecksum: 0, udpChecksum: 0 });
    expect(await kernelErrors(mesh.grace.host)).toMatchObject({ tcpChecksum: 0, udpChecksum: 0 });
  } finally {
    await stopMesh();
  }
});
