import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertConserved, settledReports } from "./support/conservation.mjs";

const sent = (txPackets, txBytes = txPackets * 100) => ({ txPackets, txBytes });
const received = (rxPackets, rxBytes = rxPackets * 100) => ({ rxPackets, rxBytes });

describe("conservation", () => {
  test("holds when everything arrived", () => {
    assertConserved(sent(10), received(10), { socket: 0 });
  });

  test("does not hold when a packet vanished and the kernel dropped nothing", () => {
    assert.throws(() => assertConserved(sent(10), received(9), { socket: 0 }), /packets vanished/);
  });

  test("does not hold when more vanished than fits the buffers the kernel dropped", () => {
    assertConserved(sent(100), received(36), { socket: 1 });
    assert.throws(() => assertConserved(sent(100), received(35), { socket: 1 }), /packets vanished/);
  });

  test("does not hold when more arrived than was sent, or other bytes", () => {
    assert.throws(() => assertConserved(sent(9), received(10), { socket: 5 }), /more arrived/);
    assert.throws(() => assertConserved(sent(9, 900), received(9, 899), { socket: 0 }), /bytes/);
  });

  test("waits until nothing moves, and not for ever", async () => {
    let packets = 0;
    const peer = () => ({ txPackets: packets, rxPackets: packets });
    const slowing = { report: async () => ({ peer: ((packets = Math.min(packets + 1, 4)), peer()) }) };
    assert.equal((await settledReports([slowing]))[0].peer.txPackets, 4);

    const restless = { report: async () => ({ peer: ((packets += 1), peer()) }) };
    await assert.rejects(settledReports([restless], 100), /packets still move after 100 ms/);
  });
});
