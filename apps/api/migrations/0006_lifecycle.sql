CREATE TABLE "groups" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "peers" DROP CONSTRAINT "peers_state_known";--> statement-breakpoint
DROP INDEX "rules_page";--> statement-breakpoint
ALTER TABLE "enrolment_keys" ADD COLUMN "group_ids" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "enrolment_keys" ADD COLUMN "ephemeral_seconds" integer;--> statement-breakpoint
ALTER TABLE "enrolment_keys" ADD COLUMN "approval" text DEFAULT 'network' NOT NULL;--> statement-breakpoint
ALTER TABLE "networks" ADD COLUMN "approval" text DEFAULT 'automatic' NOT NULL;--> statement-breakpoint
ALTER TABLE "networks" ADD COLUMN "membership_seconds" integer;--> statement-breakpoint
ALTER TABLE "networks" ADD COLUMN "idle_removal_seconds" integer;--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "group_ids" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "ephemeral_seconds" integer;--> statement-breakpoint
ALTER TABLE "groups" ADD CONSTRAINT "groups_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "groups_name_unique" ON "groups" USING btree ("network_id",lower("name"));--> statement-breakpoint
CREATE INDEX "groups_name_page" ON "groups" USING btree ("network_id","name","id");--> statement-breakpoint
CREATE INDEX "peers_groups" ON "peers" USING gin ("group_ids");--> statement-breakpoint
CREATE INDEX "peers_ephemeral" ON "peers" USING btree ("last_seen_at") WHERE "peers"."ephemeral_seconds" is not null;--> statement-breakpoint
CREATE INDEX "peers_idle" ON "peers" USING btree ("network_id","last_seen_at");--> statement-breakpoint
CREATE INDEX "rules_page" ON "rules" USING btree ("network_id","place","created_at","id");--> statement-breakpoint
ALTER TABLE "enrolment_keys" ADD CONSTRAINT "enrolment_keys_approval" CHECK ("enrolment_keys"."approval" in ('network', 'given', 'required'));--> statement-breakpoint
ALTER TABLE "enrolment_keys" ADD CONSTRAINT "enrolment_keys_ephemeral_positive" CHECK ("enrolment_keys"."ephemeral_seconds" > 0);--> statement-breakpoint
ALTER TABLE "networks" ADD CONSTRAINT "networks_approval" CHECK ("networks"."approval" in ('automatic', 'required'));--> statement-breakpoint
ALTER TABLE "networks" ADD CONSTRAINT "networks_membership_positive" CHECK ("networks"."membership_seconds" > 0);--> statement-breakpoint
ALTER TABLE "networks" ADD CONSTRAINT "networks_idle_removal_positive" CHECK ("networks"."idle_removal_seconds" > 0);--> statement-breakpoint
ALTER TABLE "peers" ADD CONSTRAINT "peers_ephemeral_positive" CHECK ("peers"."ephemeral_seconds" > 0);--> statement-breakpoint
ALTER TABLE "peers" ADD CONSTRAINT "peers_state_known" CHECK ("peers"."state" in ('pending', 'active', 'expired', 'disabled', 'rejected'));