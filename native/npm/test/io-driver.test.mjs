import assert from "node:assert/strict";
import { arch } from "node:process";
import { after, before, describe, test } from "node:test";
import { assertConserved, assertNoDefect, settledReports } from "./support/conservation.mjs";
import { canMakeNamespaces, createLab, startPair } from "./support/lab.mjs";

const EPERM = 1;
const ENOSYS = 38;

/** Numbers of system calls that differ between processors. */
const CALLS = { x64: { prctl: 157, seccomp: 317 }, arm64: { prctl: 167, seccomp: 277 } }[arch];

/** A command that runs the command behind it with `io_uring_setup` failing: what a container runtime's filter does. */
function withoutRings(errno) {
  const filter = [
    "0x20, 0, 0, 0", // load the number of the call
    "0x15, 0, 1, 425", // io_uring_setup?
    `0x06, 0, 0, ${0x5_0000 | errno}`,
    "0x06, 0, 0, 0x7fff0000",
  ].join(", ");
  const program = `
    my $filter = pack("(SCCL)*", ${filter});
    my $program = pack("S x![P] P", length($filter) / 8, $filter);
    syscall(${CALLS.prctl}, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
    syscall(${CALLS.seccomp}, 1, 0, $program) == 0 or die "seccomp: $!";
    exec @ARGV or die "exec: $!";`;
  return ["perl", "-e", program, "--"];
}

const sets = [
  {
    title: "ORD-08 FBK-07 engines that work through rings",
    overrides: { engine: { io: "io_uring" } },
    driver: "io_uring",
    ring: { name: "ioUring", state: "on" },
  },
  {
    title: "FBK-07 engines that a filter of the process keeps from making rings",
    overrides: { engine: { io: "io_uring" }, through: withoutRings(EPERM) },
    driver: "epoll",
    ring: { name: "ioUring", state: "off", reason: "refused by this kernel (errno 1)" },
  },
  {
    title: "FBK-07 engines on a kernel that has no rings",
    overrides: { engine: { io: "io_uring" }, through: withoutRings(ENOSYS) },
    driver: "epoll",
    ring: { name: "ioUring", state: "off", reason: "refused by this kernel (errno 38)" },
  },
  {
    title: "FBK-09 engines that shall use epoll",
    overrides: { engine: { io: "epoll" } },
    driver: "epoll",
    ring: { name: "ioUring", state: "off", reason: "switched off" },
  },
  {
    title: "engines that choose",
    overrides: {},
    driver: "epoll",
    ring: { name: "ioUring", state: "off", reason: "brings nothing: left out unless asked for" },
  },
];

for (const [at, { title, overrides, driver, ring }] of sets.entries()) {
  describe(title, { skip: !canMakeNamespaces() && "needs root" }, () => {
    let lab;
    let hosts;

    before(async () => {
      lab = createLab(`io${at}`);
      // One worker: the kernel learns the queue of a flow only with its first answer, so with more that one may come late.
      hosts = await startPair(lab, { ...overrides, engine: { ...overrides.engine, shards: 1 } });
    });

    after(async () => {
      await Promise.all((hosts ?? []).map((host) => host.close()));
      lab?.remove();
    });

    test("say so in status", async () => {
      for (const host of hosts) {
        const { status } = await host.report();
        assert.equal(status.ioDriver, driver);
        assert.deepEqual(
          status.offloads.find(({ name }) => name === "ioUring"),
          ring,
        );
      }
    });

    test("carry bursts of pings in their order and lose none", async () => {
      const output = lab.exec(0, "ping", "-n", "-A", "-l", "64", "-c", "500", "-w", "60", lab.inner[1].v4);

      const numbers = [...output.matchAll(/icmp_seq=(\d+) /g)].map((match) => Number(match[1])).slice(0, 500);
      assert.deepEqual(
        numbers,
        Array.from({ length: 500 }, (_, number) => number + 1),
      );
      const [first, second] = await settledReports(hosts, 60_000);
      assertNoDefect(first);
      assertNoDefect(second);
      assertConserved(first.peer, second.peer, lab.kernelDrops(0, 1));
      assertConserved(second.peer, first.peer, lab.kernelDrops(1, 0));
    });
  });
}
