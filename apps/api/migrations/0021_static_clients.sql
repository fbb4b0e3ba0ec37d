ALTER TABLE "peers" ALTER COLUMN "identity_key" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "kind" text DEFAULT 'node' NOT NULL;--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "gateway_peer_id" text;--> statement-breakpoint
CREATE INDEX "peers_kind_name_page" ON "peers" USING btree ("network_id","kind","name","id");--> statement-breakpoint
CREATE INDEX "peers_kind_created_page" ON "peers" USING btree ("network_id","kind","created_at","id");--> statement-breakpoint
CREATE INDEX "peers_gateway" ON "peers" USING btree ("gateway_peer_id");--> statement-breakpoint
ALTER TABLE "peers" ADD CONSTRAINT "peers_kind_known" CHECK ("peers"."kind" in ('node', 'client'));--> statement-breakpoint
ALTER TABLE "peers" ADD CONSTRAINT "peers_node_has_identity" CHECK (("peers"."kind" = 'node') = ("peers"."identity_key" is not null));--> statement-breakpoint
ALTER TABLE "peers" ADD CONSTRAINT "peers_node_is_no_client" CHECK ("peers"."kind" = 'client' or "peers"."gateway_peer_id" is null);
