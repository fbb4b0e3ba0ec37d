CREATE TABLE "conceal_profiles" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"version" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "conceal_profiles_version_positive" CHECK ("conceal_profiles"."version" > 0)
);
--> statement-breakpoint
CREATE TABLE "conceal_versions" (
	"profile_id" text NOT NULL,
	"version" integer NOT NULL,
	"origin" text NOT NULL,
	"settings" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "conceal_versions_profile_id_version_pk" PRIMARY KEY("profile_id","version")
);
--> statement-breakpoint
ALTER TABLE "networks" ADD COLUMN "conceal" jsonb;--> statement-breakpoint
ALTER TABLE "conceal_profiles" ADD CONSTRAINT "conceal_profiles_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conceal_versions" ADD CONSTRAINT "conceal_versions_profile_id_conceal_profiles_id_fk" FOREIGN KEY ("profile_id") REFERENCES "public"."conceal_profiles"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "conceal_profiles_name_unique" ON "conceal_profiles" USING btree ("network_id",lower("name"));--> statement-breakpoint
CREATE INDEX "conceal_profiles_page" ON "conceal_profiles" USING btree ("network_id","name","id");
