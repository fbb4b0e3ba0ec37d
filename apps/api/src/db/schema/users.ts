import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn, moment } from "./columns.ts";

/** People, and service accounts: both have rights, and tokens that act for them. */
export const users = pgTable(
  "users",
  {
    id: idColumn().primaryKey(),
    kind: text("kind", { enum: ["person", "service"] })
      .notNull()
      .default("person"),
    login: text("login").notNull(),
    /** argon2id in its own text form, parameters included; null: no login with a password. */
    passwordHash: text("password_hash"),
    role: text("role", { enum: ["none", "viewer", "operator", "admin", "owner"] }).notNull(),
    grants: text("grants", { enum: ["diagnostics"] })
      .array()
      .notNull()
      .default(sql`'{}'`),
    disabledAt: moment("disabled_at"),
    /** When somebody said that this person may come in; null: they wait, and are disabled. */
    approvedAt: moment("approved_at").defaultNow(),
    /** Sealed secret of the authenticator application; counts once `totpSince` is set. */
    totpSecret: text("totp_secret"),
    totpSince: moment("totp_since"),
    /** The last time step whose code was used: no code counts twice. */
    totpLastStep: integer("totp_last_step"),
    lastLoginAt: moment("last_login_at"),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("users_login_unique").on(sql`lower(${table.login})`),
    index("users_role_login_page").on(table.kind, table.role, table.login, table.id),
    index("users_role_created_page").on(table.kind, table.role, table.createdAt, table.id),
    index("users_login_page").on(table.kind, table.login, table.id),
    index("users_created_page").on(table.kind, table.createdAt, table.id),
    check("users_wait_disabled", sql`${table.approvedAt} is not null or ${table.disabledAt} is not null`),
    check("users_totp_whole", sql`${table.totpSince} is null or ${table.totpSecret} is not null`),
    check(
      "users_services_have_no_login",
      sql`${table.kind} = 'person' or (${table.passwordHash} is null and ${table.totpSecret} is null)`,
    ),
  ],
);
