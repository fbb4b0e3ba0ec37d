CREATE TABLE "routes" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"peer_id" text NOT NULL,
	"prefix" "cidr" NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "routes_state" CHECK ("routes"."state" in ('pending', 'approved'))
);
--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "routes" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "routes" ADD CONSTRAINT "routes_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "routes" ADD CONSTRAINT "routes_peer_id_peers_id_fk" FOREIGN KEY ("peer_id") REFERENCES "public"."peers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "routes_peer_unique" ON "routes" USING btree ("peer_id","prefix");--> statement-breakpoint
CREATE UNIQUE INDEX "routes_approved_unique" ON "routes" USING btree ("network_id","prefix") WHERE "routes"."state" = 'approved';--> statement-breakpoint
CREATE INDEX "routes_page" ON "routes" USING btree ("network_id","created_at","id");