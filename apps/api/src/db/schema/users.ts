import { sql } from "drizzle-orm";
import { pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn, moment } from "./columns.ts";

export const users = pgTable(
  "users",
  {
    id: idColumn().primaryKey(),
    login: text("login").notNull(),
    /** argon2id in its own text form, parameters included. */
    passwordHash: text("password_hash").notNull(),
    role: text("role", { enum: ["viewer", "operator", "admin", "owner"] }).notNull(),
    disabledAt: moment("disabled_at"),
    createdAt: createdAt(),
  },
  (table) => [uniqueIndex("users_login_unique").on(sql`lower(${table.login})`)],
);
