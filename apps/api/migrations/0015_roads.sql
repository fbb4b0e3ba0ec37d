ALTER TABLE "routes" ADD COLUMN "masquerade" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "routes" ADD COLUMN "priority" integer DEFAULT 100 NOT NULL;--> statement-breakpoint
ALTER TABLE "routes" ADD COLUMN "active" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "routes" SET "active" = true WHERE "state" = 'approved';--> statement-breakpoint
DROP INDEX "routes_approved_unique";--> statement-breakpoint
CREATE UNIQUE INDEX "routes_active_unique" ON "routes" USING btree ("network_id","prefix") WHERE "routes"."active" and masklen("routes"."prefix") > 0;--> statement-breakpoint
ALTER TABLE "routes" ADD CONSTRAINT "routes_active" CHECK (not "routes"."active" or "routes"."state" = 'approved');--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "serves" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
UPDATE "peers" SET "serves" = coalesce((SELECT jsonb_agg(jsonb_build_object('prefix', "routes"."prefix"::text, 'masquerade', 'on') ORDER BY "routes"."prefix") FROM "routes" WHERE "routes"."peer_id" = "peers"."id" AND "routes"."state" = 'approved'), '[]'::jsonb);--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "exit_choice" jsonb;--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "router_up_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "router_up_until" timestamp with time zone;--> statement-breakpoint
CREATE TABLE "route_approvers" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"group_id" text NOT NULL,
	"prefix" "cidr" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "route_approvers" ADD CONSTRAINT "route_approvers_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "route_approvers" ADD CONSTRAINT "route_approvers_group_id_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."groups"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "route_approvers_unique" ON "route_approvers" USING btree ("network_id","group_id","prefix");--> statement-breakpoint
CREATE INDEX "route_approvers_page" ON "route_approvers" USING btree ("network_id","created_at","id");
