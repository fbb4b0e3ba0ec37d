import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { deleteLink, Engine, linkInfo, Tun } from "../index.js";
import { canMakeNamespaces } from "./support/lab.mjs";

const publicKey = new Uint8Array(32).fill(7);
const descriptors = () => readdirSync("/proc/self/fd").length;
const threads = () => readdirSync("/proc/self/task").length;

/**
 * What this process holds, once it holds the same for a while: the kernel lists a thread for a moment after it was
 * joined. Something that leaks stays, however long this waits.
 */
async function held() {
  const deadline = Date.now() + 10_000;
  let last = { descriptors: descriptors(), threads: threads() };
  for (let same = 0; same < 10 && Date.now() < deadline;) {
    await pause(20);
    const now = { descriptors: descriptors(), threads: threads() };
    same = now.descriptors === last.descriptors && now.threads === last.threads ? same + 1 : 0;
    last = now;
  }
  return last;
}
const name = (label) => `nt${label}${process.pid % 100_000}`;

describe("the life of engines and devices", { skip: !canMakeNamespaces() && "needs root" }, () => {
  test("1,000 engines opened and closed leave no descriptor, no thread and no interface", async () => {
    const options = {
      tunName: name("l"),
      tunMtu: 1420,
      listenPort: 0,
      publicKey,
      shards: 2,
      socketBufferBytes: 65_536,
    };
    new Engine(options, () => {}).close();
    const before = await held();

    for (let round = 0; round < 1_000; round += 1) {
      new Engine(options, () => {}).close();
    }

    assert.deepEqual(await held(), before);
    assert.equal(linkInfo(options.tunName), null);
  });

  test("a name is free again as soon as an engine that works through rings is closed", async () => {
    const options = {
      tunName: name("r"),
      tunMtu: 1420,
      listenPort: 0,
      publicKey,
      shards: 2,
      socketBufferBytes: 65_536,
      io: "io_uring",
    };
    const first = new Engine(options, () => {});
    assert.equal(first.status().ioDriver, "io_uring");
    first.close();
    const before = await held();

    for (let round = 0; round < 100; round += 1) {
      new Engine(options, () => {}).close();
    }

    assert.deepEqual(await held(), before);
    assert.equal(linkInfo(options.tunName), null);
  });

  test("1,000 devices opened and closed leave nothing", () => {
    Tun.open({ name: name("d") }).close();
    const before = descriptors();

    for (let round = 0; round < 1_000; round += 1) {
      Tun.open({ name: name("d"), queues: 2 }).close();
    }

    assert.equal(descriptors(), before);
  });

  test("a closed engine says so, and closing again is harmless", () => {
    const engine = new Engine({ tunName: name("c"), tunMtu: 1420, listenPort: 0, publicKey }, () => {});
    engine.close();
    engine.close();

    assert.throws(() => engine.status(), { code: "closed" });
    assert.throws(() => engine.apply(new Uint8Array()), { code: "closed" });
  });

  test("an open engine does not keep the process alive", () => {
    const program = `
      import { Engine } from ${JSON.stringify(new URL("../index.js", import.meta.url).href)};
      new Engine({ tunName: "${name("x")}", tunMtu: 1420, listenPort: 0, publicKey: new Uint8Array(32) }, () => {});
    `;
    execFileSync(process.execPath, ["--input-type=module", "--eval", program], { timeout: 10_000 });
    assert.equal(linkInfo(name("x")), null);
  });

  test("an idle engine does not wake up", async () => {
    const engine = new Engine({ tunName: name("i"), tunMtu: 1420, listenPort: 0, publicKey, shards: 2 }, () => {});
    const names = (await import("../index.js")).totalCounterNames();
    const polls = () => {
      const row = new BigUint64Array(names.length);
      engine.readTotals(row);
      return Number(row[names.indexOf("pollCalls")]);
    };
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = polls();
    await new Promise((resolve) => setTimeout(resolve, 2_000));

    assert.ok(polls() - before <= 4, `${polls() - before} wake-ups in 2 s`);
    engine.close();
  });
});

describe("a device that somebody deletes", { skip: !canMakeNamespaces() && "needs root" }, () => {
  test("is told as a fatal fault, and the workers do not spin", async () => {
    const kinds = [];
    const into = new Uint8Array(4096);
    const options = { tunName: name("g"), tunMtu: 1420, listenPort: 0, publicKey, shards: 1 };
    const engine = new Engine(options, () => {
      for (let used = engine.takeEvents(into); used > 0; used = engine.takeEvents(into)) {
        kinds.push([into[0], into[9]]);
      }
    });
    deleteLink(options.tunName);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { user, system } = process.cpuUsage(before);

    assert.deepEqual(kinds, [[8, 1]]);
    assert.ok(user + system < 250_000, `${user + system} µs of processor time in half a second`);
    engine.close();
  });
});

describe("a worker that panics", { skip: !canMakeNamespaces() && "needs root" }, () => {
  test("is told with its reason, ends the whole engine, and leaves no descriptor and no thread", () => {
    const program = `
      import { readdirSync } from "node:fs";
      import { Engine, linkInfo } from ${JSON.stringify(new URL("../index.js", import.meta.url).href)};
      const options = { tunName: "${name("p")}", tunMtu: 1420, listenPort: 0, publicKey: new Uint8Array(32), shards: 2 };
      const count = () => [readdirSync("/proc/self/fd").length, readdirSync("/proc/self/task").length];
      const fail = () => new Promise((resolve) => {
        const into = new Uint8Array(4096);
        const stay = setInterval(() => {}, 1_000);
        const engine = new Engine(options, () => {
          const used = engine.takeEvents(into);
          if (used === 0) return;
          clearInterval(stay);
          const text = Buffer.from(into.subarray(8, used)).toString();
          engine.close();
          resolve({ kind: into[0], shard: into[2], text, link: linkInfo(options.tunName) });
        });
        engine.injectPanic(1);
      });
      for (let round = 0; round < 5; round += 1) await fail();
      const before = count();
      let told;
      for (let round = 0; round < 20; round += 1) told = await fail();
      const after = count();
      process.stdout.write(JSON.stringify({ before, after, told }));
    `;
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
      timeout: 30_000,
      env: { ...process.env, WEFT_DEBUG_FAULTS: "1" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const { before, after, told } = JSON.parse(output.toString());

    assert.deepEqual(after, before);
    assert.deepEqual([told.kind, told.shard, told.link], [14, 1, null]);
    assert.match(told.text, /shared\.rs:\d+: a panic was asked for/);
  });

  test("cannot be had without the switch in the environment", () => {
    const engine = new Engine({ tunName: name("q"), tunMtu: 1420, listenPort: 0, publicKey, shards: 1 }, () => {});

    assert.throws(() => engine.injectPanic(0), { code: "not_enabled", message: /WEFT_DEBUG_FAULTS/ });
    engine.close();
  });
});

describe("options that make no sense", () => {
  const good = { tunName: "nt%d", tunMtu: 1420, listenPort: 0, publicKey };
  const cases = [
    { title: "a short key", options: { ...good, publicKey: new Uint8Array(31) }, message: /publicKey has 31 bytes/ },
    { title: "a port that is none", options: { ...good, listenPort: 65_536 }, message: /listenPort is 65536/ },
    { title: "a tiny MTU", options: { ...good, tunMtu: 100 }, message: /tunMtu is 100/ },
    { title: "an unknown word", options: { ...good, udpGso: "maybe" }, message: /udpGso is "maybe"/ },
    { title: "no workers", options: { ...good, shards: 0 }, message: /shards is 0/ },
  ];
  for (const { title, options, message } of cases) {
    test(`${title} is refused with a sentence`, () => {
      assert.throws(() => new Engine(options, () => {}), { code: "invalid_option", message });
    });
  }
});
