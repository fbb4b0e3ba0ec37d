CREATE TABLE "name_settings" (
	"network_id" text PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"domain" text NOT NULL,
	"search_domains" text[] NOT NULL,
	"left_alone_group_ids" text[] NOT NULL,
	CONSTRAINT "name_settings_state_known" CHECK ("name_settings"."state" in ('on', 'off'))
);
--> statement-breakpoint
CREATE TABLE "name_records" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"value" text NOT NULL,
	"ttl_seconds" integer NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "name_records_type_known" CHECK ("name_records"."type" in ('A', 'AAAA', 'CNAME'))
);
--> statement-breakpoint
CREATE TABLE "nameserver_groups" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"servers" text[] NOT NULL,
	"domains" text[] NOT NULL,
	"group_ids" text[] NOT NULL,
	"state" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "nameserver_groups_state_known" CHECK ("nameserver_groups"."state" in ('on', 'off'))
);
--> statement-breakpoint
ALTER TABLE "name_settings" ADD CONSTRAINT "name_settings_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "name_records" ADD CONSTRAINT "name_records_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "nameserver_groups" ADD CONSTRAINT "nameserver_groups_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "name_records_unique" ON "name_records" USING btree ("network_id","name","type","value");--> statement-breakpoint
CREATE INDEX "name_records_name_page" ON "name_records" USING btree ("network_id","name","id");--> statement-breakpoint
CREATE INDEX "name_records_page" ON "name_records" USING btree ("network_id","created_at","id");--> statement-breakpoint
CREATE INDEX "name_records_type_name_page" ON "name_records" USING btree ("network_id","type","name","id");--> statement-breakpoint
CREATE INDEX "name_records_type_page" ON "name_records" USING btree ("network_id","type","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "nameserver_groups_name_unique" ON "nameserver_groups" USING btree ("network_id",lower("name"));--> statement-breakpoint
CREATE INDEX "nameserver_groups_name_page" ON "nameserver_groups" USING btree ("network_id","name","id");--> statement-breakpoint
CREATE INDEX "nameserver_groups_page" ON "nameserver_groups" USING btree ("network_id","created_at","id");--> statement-breakpoint
CREATE INDEX "nameserver_groups_state_name_page" ON "nameserver_groups" USING btree ("network_id","state","name","id");--> statement-breakpoint
CREATE INDEX "nameserver_groups_state_page" ON "nameserver_groups" USING btree ("network_id","state","created_at","id");
