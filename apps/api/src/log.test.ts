import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { createLog, messageForLog } from "./log.ts";
import { createTestDatabase } from "./testing/test-database.ts";

test("SEC-53 a failed statement is logged without the values it carried", async () => {
  const database = await createTestDatabase();
  const connection = database.connect();
  let text = "";
  const log = createLog("info", { write: (line) => void (text += line) });
  const secret = ["-----BEGIN", "PRIVATE KEY-----\nMC4CAQAw\n-----END"].join(" ");

  const error = await connection.db
    .execute(sql`insert into nowhere values (${secret})`)
    .catch((thrown: unknown) => thrown);
  if (!(error instanceof Error)) throw new Error("the table does not exist");
  log.error({ event: "failed", err: error }, messageForLog(error));
  log.error({ event: "failed", err: error });

  expect(text).toContain("insert into nowhere");
  expect(text).toContain("does not exist");
  expect(text).not.toContain("MC4CAQAw");
  await connection.dispose();
  await database.drop();
});
