import { connect } from "node:net";

/**
 * Sends one request of WireGuard's configuration protocol to a daemon's Unix socket and returns its answer.
 *
 * Rejects when the daemon answers with an error number or not at all.
 */
export function callUapi(socketPath: string, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    let answer = "";
    const finish = (error?: Error): void => {
      socket.destroy();
      if (error) reject(error);
      else resolve(answer);
    };
    socket.setEncoding("utf8");
    socket.setTimeout(ANSWER_MS, () => finish(new Error(`${socketPath} does not answer`)));
    socket.on("error", finish);
    socket.on("data", (text: string) => {
      answer += text;
      const errno = /^errno=(-?\d+)$/m.exec(answer)?.[1];
      if (errno === undefined || !answer.endsWith("\n\n")) return;
      finish(errno === "0" ? undefined : new Error(`${socketPath} refused the request with errno ${errno}`));
    });
    socket.on("connect", () => socket.write(`${lines.join("\n")}\n\n`));
  });
}

const ANSWER_MS = 10_000;
