import { spawn } from "node:child_process";
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { expect, test } from "vitest";

import { builtProgram } from "./repository.ts";

/** Two datagrams of 1,372 bytes take up to 2,304 of a receive buffer each: the usual 212,992 hold 92 of them. */
const HELD_BY_A_USUAL_BUFFER = 92;

test("P-17 datagrams under way are bounded, so that no socket buffer of the usual size overflows", async () => {
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const held: { readonly message: Buffer; readonly from: RemoteInfo }[] = [];
  let mostHeld = 0;
  // Nothing is answered before nothing more comes: whoever sent without bound would have sent everything by then.
  let quiet: NodeJS.Timeout | undefined;
  socket.on("message", (message, from) => {
    held.push({ message, from });
    mostHeld = Math.max(mostHeld, held.length);
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      for (const { message: bytes, from: to } of held.splice(0)) socket.send(bytes, to.port, to.address);
    }, QUIET_MS);
  });

  const child = spawn(process.execPath, [
    builtProgram("harness/traffic/datagrams.js"),
    "exchange",
    "127.0.0.1",
    String(socket.address().port),
    "199",
  ]);
  let output = "";
  child.stdout.on("data", (data: Buffer) => (output += data.toString()));
  await once(child, "close");
  clearTimeout(quiet);
  socket.close();

  expect(JSON.parse(output)).toMatchObject({ sent: 200, identical: 200, lost: 0 });
  expect(mostHeld).toBeLessThanOrEqual(HELD_BY_A_USUAL_BUFFER / 2);
});

const QUIET_MS = 50;
