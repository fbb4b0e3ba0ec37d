import { createServer } from "node:net";

/** The address that was asked for by WEFT_LISTEN; else the usual port on loopback, or any free one when it is taken. */
export async function chooseListen(): Promise<string> {
  const asked = process.env["WEFT_LISTEN"];
  if (asked !== undefined && asked !== "") return asked;
  return (await isFree(USUAL_PORT)) ? `127.0.0.1:${String(USUAL_PORT)}` : "127.0.0.1:0";
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

const USUAL_PORT = 7_400;
