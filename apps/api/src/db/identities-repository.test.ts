import { randomBytes } from "node:crypto";
import { userIds } from "@weft/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import type { Database } from "./client.ts";
import { findIdentity, insertIdentity, takeLogin } from "./identities-repository.ts";
import { migrate } from "./migrate.ts";
import { insertUser } from "./users-repository.ts";

let database: TestDatabase;
let connection: Database;
const userId = userIds.make(randomBytes);
const createdAt = new Date();

beforeAll(async () => {
  database = await createTestDatabase();
  connection = database.connect();
  await migrate(connection.sql);
  await insertUser(connection.db, { id: userId, login: "olga", role: "viewer", passwordHash: null, createdAt });
});
afterAll(async () => {
  await connection.dispose();
  await database.drop();
});

/** Text that path, URL and mail rules would join, fold or cut. */
const subject = fc.oneof(
  fc.stringMatching(/^[aAbB/.%@ ]{1,8}$/),
  fc.constantFrom(
    "a/../b",
    "b",
    "A/../b",
    "a/./b",
    " b",
    "b ",
    "b%20",
    "ü",
    "u\u0308",
    "../../b",
    "b?x=1",
    "b#",
    "B@x.org",
  ),
  fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !text.includes("\0")),
);

test("SEC-41 an identity is found by its own issuer and subject, and by no other text, however alike", async () => {
  await fc.assert(
    fc.asyncProperty(subject, subject, async (one, other) => {
      const issuer = `https://id.example/${randomBytes(8).toString("hex")}`;
      await insertIdentity(connection.db, { issuer, subject: one, userId, createdAt });

      expect(await findIdentity(connection.db, { issuer, subject: one })).toBe(userId);
      expect(await findIdentity(connection.db, { issuer, subject: other })).toBe(one === other ? userId : undefined);
      expect(await findIdentity(connection.db, { issuer: `${issuer}/`, subject: one })).toBeUndefined();
    }),
    { numRuns: 100 },
  );
});

test("SEC-10 of parallel uses of one state one counts", async () => {
  const ends = new Date(Date.now() + 60_000);
  const taken = await Promise.all(Array.from({ length: 8 }, () => takeLogin(connection.db, "one state", ends)));

  expect(taken.filter(Boolean)).toHaveLength(1);
});
