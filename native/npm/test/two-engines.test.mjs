import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { canMakeNamespaces, createLab, startPair } from "./support/lab.mjs";

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
          const output = lab.exec(0, "ping", "-c", "5", "-i", "0.05", "-W", "2", lab.inner[1][family]);

          assert.match(output, /5 received/);
        });

        test(`a TCP stream over ${family} goes both ways`, async () => {
          const server = lab.spawn(1, "iperf3", "-s", "-1");
          await new Promise((resolve) => setTimeout(resolve, 300));
          const result = JSON.parse(lab.exec(0, "iperf3", "-c", lab.inner[1][family], "-t", "1", "--bidir", "-J"));

          assert.ok(result.end.sum_received.bytes > 10e6, "forward");
          assert.ok(result.end.sum_received_bidir_reverse.bytes > 10e6, "backward");
          server.kill();
        });
      }

      test("nothing was dropped and the counters match on both sides", async () => {
        const [first, second] = await Promise.all(hosts.map((host) => host.report()));

        for (const report of [first, second]) {
          for (const [name, count] of Object.entries(report.totals)) {
            if (name.startsWith("drop") && name !== "dropNoPeer") {
              assert.equal(count, 0, name);
            }
          }
        }
        assert.equal(first.peer.txPackets, second.peer.rxPackets);
        assert.equal(first.peer.txBytes, second.peer.rxBytes);
        assert.equal(second.peer.txBytes, first.peer.rxBytes);
      });
    });
  }
});
