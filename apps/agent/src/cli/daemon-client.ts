import { createConnection } from "node:net";

import { err, ok, type Result } from "@weft/protocol";

import { parseLocalReply, type LocalRequest } from "../daemon/local-protocol.ts";
import { errorCode } from "../state/files.ts";
import type { CliFailure } from "./output.ts";

/** Asks the daemon one thing over its socket; events come while it works. */
export function askDaemon(
  socketPath: string,
  request: LocalRequest,
  onEvent: (event: unknown) => void = () => {},
): { readonly answer: Promise<Result<unknown, CliFailure>>; readonly cancel: () => void } {
  const socket = createConnection(socketPath);
  const answer = new Promise<Result<unknown, CliFailure>>((resolve) => {
    let received = "";
    socket.setEncoding("utf8");
    socket.on("connect", () => socket.write(`${JSON.stringify(request)}\n`));
    socket.on("data", (text: string) => {
      received += text;
      const lines = received.split("\n");
      received = lines.pop() ?? "";
      for (const line of lines) {
        const reply = parseLocalReply(line);
        if (!reply)
          resolve(
            err({ code: "failed", message: "the daemon answered with something this version does not understand" }),
          );
        else if ("event" in reply) onEvent(reply.event);
        else resolve("result" in reply ? ok(reply.result) : err(reply.error));
      }
    });
    socket.on("error", (error) => resolve(err(socketFailure(error))));
    socket.on("close", () => resolve(err(ENDED)));
  });
  return { answer: answer.finally(() => socket.destroy()), cancel: () => socket.destroy() };
}

function socketFailure(error: Error): CliFailure {
  const code = errorCode(error);
  if (code === "EACCES") return { code: "permission", message: "the daemon belongs to another user; try as root" };
  if (code === "ENOENT" || code === "ECONNREFUSED")
    return { code: "not_running", message: 'the weft daemon does not run; "weft up" starts it' };
  // A daemon that ends with our request unread resets the connection.
  if (code === "ECONNRESET" || code === "EPIPE") return ENDED;
  return { code: "failed", message: `cannot talk to the daemon: ${error.message}` };
}

const ENDED: CliFailure = { code: "not_running", message: "the daemon ended before it answered" };
