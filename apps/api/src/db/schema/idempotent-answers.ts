import { index, pgTable, text } from "drizzle-orm/pg-core";
import { moment } from "./columns.ts";

/** Answers to calls with an `Idempotency-Key`; only who knows that key can read one. */
export const idempotentAnswers = pgTable(
  "idempotent_answers",
  {
    /** Hash of the user and the key. */
    keyHash: text("key_hash").primaryKey(),
    /** Hash of the operation and its input. */
    requestHash: text("request_hash").notNull(),
    /** Sealed under a key that is made of the `Idempotency-Key`. */
    sealedAnswer: text("sealed_answer").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [index("idempotent_answers_age").on(table.createdAt)],
);
