import { boolean, index, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { createdAt, idColumn, moment } from "./columns.ts";
import { users } from "./users.ts";

/** Places that people may sign in with, by OpenID Connect. */
export const identityProviders = pgTable(
  "identity_providers",
  {
    id: idColumn().primaryKey(),
    name: text("name").notNull(),
    issuer: text("issuer").notNull(),
    clientId: text("client_id").notNull(),
    /** Sealed; null for public clients. */
    clientSecret: text("client_secret"),
    /** What happens to somebody whom nobody invited. */
    newcomers: text("newcomers", { enum: ["refuse", "wait"] }).notNull(),
    isEnabled: boolean("is_enabled").notNull().default(true),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("identity_providers_name_unique").on(sql`lower(${table.name})`),
    index("identity_providers_name_page").on(table.name, table.id),
    index("identity_providers_page").on(table.createdAt, table.id),
  ],
);

/** Who somebody is at an issuer. The pair of issuer and subject is the identity; names and mail addresses are not. */
export const identities = pgTable(
  "identities",
  {
    issuer: text("issuer").notNull(),
    subject: text("subject").notNull(),
    userId: idColumn("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.issuer, table.subject] }), index("identities_user").on(table.userId)],
);

/** Logins at providers that came back: each counts once. */
export const usedLogins = pgTable(
  "used_logins",
  { stateHash: text("state_hash").primaryKey(), expiresAt: moment("expires_at").notNull() },
  (table) => [index("used_logins_expiry").on(table.expiresAt)],
);
