import assert from "node:assert/strict";
import { json } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { assertConserved, assertNoDefect, settledReports } from "./support/conservation.mjs";
import { canMakeNamespaces, createLab, startPair } from "./support/lab.mjs";

/** What a stream carries. A receiver stops when it hears over its control connection that all was sent: some MB early. */
const STREAM_BYTES = 20_000_000;

/**
 * Sends echo requests until so many are answered and returns the numbers of those answered first, sorted: a gap is a lost
 * packet. Without a deadline (-w) ping would wait for the last answers no longer than one interval; with it, it goes on
 * sending. Their order is not fixed: the kernel learns the queue of a flow only after it has delivered the first packet of
 * it (tun_flow_update), so the first answer may wait in another queue than the later ones.
 */
function pings(lab, address, count) {
  const output = lab.exec(0, "ping", "-n", "-c", `${count}`, "-i", "0.05", "-w", "20", address);
  const answered = [...output.matchAll(/icmp_seq=(\d+) /g)].map((match) => Number(match[1]));
  return answered.slice(0, count).toSorted((a, b) => a - b);
}

/** Sends bytes from the first host to the second, or back; resolves with what iperf3 says of it. */
async function stream(lab, { address, port, options = [] }) {
  const server = lab.spawn(1, "iperf3", "--server", "--one-off", "--forceflush", "--port", `${port}`);
  try {
    for await (const text of server.stdout.iterator({ destroyOnReturn: false })) {
      if (`${text}`.includes("listening")) break;
    }
    server.stdout.resume();
    const client = lab.spawn(
      0,
      "iperf3",
      "--client",
      address,
      "--port",
      `${port}`,
      "--json",
      ...options,
      "--bytes",
      `${STREAM_BYTES}`,
    );
    return await json(client.stdout);
  } finally {
    server.kill();
  }
}

describe("two engines with installed keys", { skip: !canMakeNamespaces() && "needs root" }, () => {
  for (const over of ["v4", "v6"]) {
    describe(`over ${over}`, () => {
      let lab;
      let hosts;

      before(async () => {
        lab = createLab(`two${over}`);
        hosts = await startPair(lab, { over });
      });

      after(async () => {
        await Promise.all((hosts ?? []).map((host) => host.close()));
        lab?.remove();
      });

      for (const family of ["v4", "v6"]) {
        test(`a ping over ${family} gets its answers`, () => {
          assert.deepEqual(pings(lab, lab.inner[1][family], 5), [1, 2, 3, 4, 5]);
        });

        test(`TCP streams over ${family} carry their bytes both ways at once`, async () => {
          const address = lab.inner[1][family];
          const results = await Promise.all([
            stream(lab, { address, port: 5201 }),
            stream(lab, { address, port: 5202, options: ["--reverse"] }),
          ]);

          for (const { end } of results) {
            assert.ok(end.sum_received.bytes > STREAM_BYTES / 2, `${end.sum_received.bytes} bytes`);
          }
        });
      }

      test("every packet sent is received, or dropped by the kernel, which says so", async () => {
        const [first, second] = await settledReports(hosts);

        assertNoDefect(first);
        assertNoDefect(second);
        assertConserved(first.peer, second.peer, lab.kernelDrops(0, 1));
        assertConserved(second.peer, first.peer, lab.kernelDrops(1, 0));
      });
    });
  }
});

describe("an engine that gets no time to receive", { skip: !canMakeNamespaces() && "needs root" }, () => {
  test("misses exactly what the kernel says it dropped", async () => {
    const lab = createLab("stop");
    const hosts = await startPair(lab, { engine: { socketBufferBytes: 16_384 } });
    try {
      process.kill(hosts[1].pid, "SIGSTOP");
      lab.exec(0, "sh", "-c", `ping -q -n -f -c 1000 ${lab.inner[1].v4} || true`);
      process.kill(hosts[1].pid, "SIGCONT");
      const [first, second] = await settledReports(hosts);

      assertNoDefect(first);
      assertNoDefect(second);
      const drops = lab.kernelDrops(0, 1);
      assert.ok(drops.receivedOverV4 > 0, JSON.stringify(drops));
      // One request a buffer: here the kernel's count is exact.
      assert.equal(first.peer.txPackets - second.peer.rxPackets, drops.receivedOverV4);
      assertConserved(first.peer, second.peer, drops);
      assertConserved(second.peer, first.peer, lab.kernelDrops(1, 0));
    } finally {
      await Promise.all(hosts.map((host) => host.close()));
      lab.remove();
    }
  });
});
