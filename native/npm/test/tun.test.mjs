import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, test } from "node:test";
import {
  addAddress,
  addRoute,
  linkInfo,
  links,
  ping,
  removeAddress,
  removeRoute,
  routes,
  setLink,
  Tun,
} from "../index.js";
import { canMakeNamespaces } from "./support/lab.mjs";

describe("a TUN device", { skip: !canMakeNamespaces() && "needs root" }, () => {
  const name = `ntt${process.pid % 100_000}`;

  test("is described, changed and removed", () => {
    const tun = Tun.open({ name, mtu: 1400 });
    try {
      assert.equal(tun.name, name);
      assert.deepEqual(
        tun.offloads().map((entry) => entry.name),
        ["tunTcp", "tunUdp"],
      );
      assert.equal(linkInfo(name).mtu, 1400);
      setLink(name, { mtu: 1300, txQueueLen: 2000 });
      assert.equal(linkInfo(name).mtu, 1300);

      addAddress(name, "198.51.100.1/32");
      addRoute(name, "198.51.100.128/25");
      assert.deepEqual(routes(name), ["198.51.100.128/25"]);
      assert.ok(
        links()
          .find((link) => link.name === name)
          .addresses.includes("198.51.100.1/32"),
      );
      removeRoute(name, "198.51.100.128/25");
      removeAddress(name, "198.51.100.1/32");
      assert.deepEqual(routes(name), []);
    } finally {
      tun.close();
    }
    assert.equal(linkInfo(name), null);
    assert.throws(() => tun.read(0, new Uint8Array(1500), new Uint32Array(1)), { code: "closed" });
  });

  test("refuses with a code and an error number", () => {
    assert.throws(() => addAddress("no-such-link", "198.51.100.1/32"), { code: "no_such_link" });
    assert.throws(() => addAddress("lo", "198.51.100.1"), { code: "invalid_option" });
    const tun = Tun.open({ name });
    assert.throws(() => Tun.open({ name }), { code: "tun_busy" });
    assert.throws(() => tun.read(5, new Uint8Array(1500), new Uint32Array(1)), { code: "invalid_option" });
    tun.close();
  });

  test("reads what the kernel sends into it and answers by writing", async () => {
    const tun = Tun.open({ name });
    const socket = createSocket("udp4");
    try {
      addAddress(name, "198.51.100.1/24");
      const bound = once(socket, "listening");
      socket.bind(0, "198.51.100.1");
      await bound;
      socket.send("question", 7_000, "198.51.100.2");

      const packet = await nextPacket(tun, (bytes) => bytes[0] >> 4 === 4 && bytes[9] === 17);
      assert.equal(packet.subarray(28).toString(), "question");

      const answer = once(socket, "message");
      tun.write(0, swapped(packet), Uint32Array.of(packet.length));
      const [payload, from] = await answer;
      assert.equal(payload.toString(), "question");
      assert.deepEqual([from.address, from.port], ["198.51.100.2", 7_000]);
    } finally {
      socket.close();
      tun.close();
    }
  });

  test("a wait ends after its time", async () => {
    const tun = Tun.open({ name });
    setLink(name, { up: false });
    // Whatever the kernel sent while the device was up is read first.
    tun.read(0, new Uint8Array(65_535), new Uint32Array(64));
    assert.equal(typeof (await tun.waitReadable(0, 20)), "boolean");
    tun.close();
  });
});

describe("ping", () => {
  test("measures the time to this host", async () => {
    const microseconds = await ping("127.0.0.1", 1_000);
    assert.ok(microseconds > 0 && microseconds < 1_000_000);
  });

  test("rejects with a code", async () => {
    await assert.rejects(
      ping("192.0.2.200", 50),
      (error) => typeof error.code === "string" && error.code !== "GenericFailure",
    );
    assert.throws(() => ping("not an address", 50), { code: "invalid_option" });
  });
});

async function nextPacket(tun, wanted) {
  const into = new Uint8Array(65_535);
  const lengths = new Uint32Array(16);
  for (let tries = 0; tries < 50; tries += 1) {
    await tun.waitReadable(0, 100);
    const count = tun.read(0, into, lengths);
    let start = 0;
    for (const length of lengths.subarray(0, count)) {
      const packet = Buffer.from(into.slice(start, start + length));
      if (wanted(packet)) {
        return packet;
      }
      start += length;
    }
  }
  throw new Error("no such packet came");
}

/** The packet with its ends exchanged: both checksums stay right. */
function swapped(packet) {
  const out = Buffer.from(packet);
  packet.copy(out, 12, 16, 20);
  packet.copy(out, 16, 12, 16);
  packet.copy(out, 20, 22, 24);
  packet.copy(out, 22, 20, 22);
  return out;
}
