CREATE TABLE "client_links" (
	"peer_id" text PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"pad" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "client_links" ADD CONSTRAINT "client_links_peer_id_peers_id_fk" FOREIGN KEY ("peer_id") REFERENCES "public"."peers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "client_links_hash_unique" ON "client_links" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "client_links_expiry" ON "client_links" USING btree ("expires_at");
