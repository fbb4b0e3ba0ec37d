ALTER TABLE "networks" ADD COLUMN "profile_fallback" text DEFAULT 'refuse' NOT NULL;--> statement-breakpoint
ALTER TABLE "peers" ADD COLUMN "capabilities" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "networks" ADD CONSTRAINT "networks_profile_fallback" CHECK ("networks"."profile_fallback" in ('plain', 'refuse'));