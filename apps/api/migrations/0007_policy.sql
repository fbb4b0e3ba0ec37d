CREATE TABLE "policy_versions" (
	"network_id" text NOT NULL,
	"version" integer NOT NULL,
	"document" jsonb NOT NULL,
	"author" text,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "policy_versions_network_id_version_pk" PRIMARY KEY("network_id","version")
);
--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "source" text DEFAULT 'all' NOT NULL;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "destination" text DEFAULT 'all' NOT NULL;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "direction" text DEFAULT 'both-ways' NOT NULL;--> statement-breakpoint
ALTER TABLE "policy_versions" ADD CONSTRAINT "policy_versions_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "rules_source" ON "rules" USING btree ("source");--> statement-breakpoint
CREATE INDEX "rules_destination" ON "rules" USING btree ("destination");