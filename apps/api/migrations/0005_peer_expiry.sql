ALTER TABLE "peers" ADD COLUMN "state" text DEFAULT 'active' NOT NULL;--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "expires_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "peers_expiry_due" ON "peers" USING btree ("expires_at") WHERE "peers"."state" = 'active';--> statement-breakpoint
ALTER TABLE "peers" ADD CONSTRAINT "peers_state_known" CHECK ("peers"."state" in ('active', 'expired'));